import { BPFFS, nodeControlGroup, PinFolder } from '../../kernel/bpf/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import type { CleanupOptions } from '../descriptor.ts';
import { LeftoverError } from '../leftover.ts';
import type { AttachmentOptions } from './links/attachment.ts';
import { LinkPins } from './links/link-pins.ts';
import { controlGroupOf, isPinFolderName, PIN_FOLDER, pinPath } from './names.ts';

/**
 * Removes the links and maps of this machine's control group, and of control groups that no longer exist. Those of other
 * control groups stay, because another proxy may use them. The operator must know: if no proxy does, somebody
 * should remove them. Connections that are translated go on.
 */
export async function cleanupEbpf({
  cgroupRoot,
  bpffs = BPFFS,
}: CleanupOptions & AttachmentOptions = {}): Promise<Cleanup> {
  const report = new CleanupReport();
  const root = new PinFolder(`${bpffs}/${PIN_FOLDER}`);
  const group = nodeControlGroup(cgroupRoot);
  const own = 'missing' in group ? undefined : pinPath(bpffs, group.id);
  for (const name of root.names().filter(isPinFolderName)) {
    const folder = new PinFolder(`${root.path}/${name}`);
    const pins = new LinkPins(folder);
    const object = `pins in ${folder.path}`;
    await report.attempt(object, async () => {
      if (folder.path !== own && !pins.isAbandoned) throw otherGroup(object, controlGroupOf(name));
      pins.remove();
      folder.remove();
      return object;
    });
  }
  if (root.exists && root.names().length === 0) root.remove();
  return report;
}

function otherGroup(object: string, id: string): LeftoverError {
  return new LeftoverError({
    object,
    reason: 'programs serve another control group with them',
    advice: `if no proxy uses that group, run kube-proxy cleanup --cgroup-root "$(find /sys/fs/cgroup -inum ${id} -type d)"`,
  });
}

/** Whether an earlier run of the mode may have left something. */
export function hasEbpfLeftovers(bpffs = BPFFS): boolean {
  return new PinFolder(`${bpffs}/${PIN_FOLDER}`).names().length > 0;
}
