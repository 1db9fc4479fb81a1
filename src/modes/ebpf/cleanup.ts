import { BPFFS, nodeControlGroup, PinFolder } from '../../kernel/bpf/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import type { CleanupOptions } from '../descriptor.ts';
import type { Place } from './links/attachment.ts';
import { LinkPins } from './links/link-pins.ts';
import { isPinFolderName, PIN_FOLDER, pinPath } from './names.ts';

/**
 * Removes the links and maps of this machine's control group, and of control groups that no longer exist. Those of other
 * control groups stay: another proxy uses them. Connections that are translated go on.
 */
export async function cleanupEbpf({ cgroupRoot, bpffs = BPFFS }: CleanupOptions & Place = {}): Promise<Cleanup> {
  const report = new CleanupReport();
  const root = new PinFolder(`${bpffs}/${PIN_FOLDER}`);
  const group = nodeControlGroup(cgroupRoot);
  const own = 'missing' in group ? undefined : pinPath(bpffs, group.id);
  for (const name of root.names().filter(isPinFolderName)) {
    const folder = new PinFolder(`${root.path}/${name}`);
    const pins = new LinkPins(folder);
    await report.attempt(`pins in ${folder.path}`, async () => {
      if (folder.path !== own && !pins.isAbandoned) return undefined;
      pins.remove();
      folder.remove();
      return `pins in ${folder.path}`;
    });
  }
  if (root.exists && root.names().length === 0) root.remove();
  return report;
}

/** Whether an earlier run of the mode may have left something. */
export function hasEbpfLeftovers(bpffs = BPFFS): boolean {
  return new PinFolder(`${bpffs}/${PIN_FOLDER}`).names().length > 0;
}
