import { BPFFS, BpfLink, nodeControlGroup, PinFolder } from '../../kernel/bpf/index.ts';
import { KernelError } from '../../kernel/errors.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import type { CleanupOptions } from '../descriptor.ts';
import type { Place } from './links/attachment.ts';
import { isLinkPin, isPinFolderName, PIN_FOLDER } from './names.ts';

/**
 * Removes the links and maps of this machine's control group, and of control groups that no longer exist. Those of other
 * control groups stay: another proxy uses them. Connections that are translated go on.
 */
export async function cleanupEbpf({ cgroupRoot, bpffs = BPFFS }: CleanupOptions & Place = {}): Promise<Cleanup> {
  const report = new CleanupReport();
  const root = new PinFolder(`${bpffs}/${PIN_FOLDER}`);
  const group = nodeControlGroup(cgroupRoot);
  const own = 'missing' in group ? undefined : `cgroup-${group.id}`;
  for (const name of root.names().filter(isPinFolderName)) {
    const folder = new PinFolder(`${root.path}/${name}`);
    await report.attempt(`pins in ${folder.path}`, async () => {
      if (name !== own && !isAbandoned(folder)) return undefined;
      detachLinks(folder);
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

/** The kernel detached all links, because the control group is gone. */
function isAbandoned(folder: PinFolder): boolean {
  const links = folder.names().filter(isLinkPin);
  return links.length > 0 && links.every(name => withLink(folder, name, link => link.info().cgroup === 0n) ?? true);
}

/** Taking the pin away is not enough if another process holds the link. */
function detachLinks(folder: PinFolder): void {
  for (const name of folder.names().filter(isLinkPin)) {
    withLink(folder, name, link => {
      if (link.info().cgroup !== 0n) link.detach();
    });
  }
}

/** Undefined if the pin is no link. */
function withLink<T>(folder: PinFolder, name: string, work: (link: BpfLink) => T): T | undefined {
  const fd = folder.open(name);
  if (fd === undefined) return undefined;
  const link = BpfLink.of(fd);
  try {
    return work(link);
  } catch (error) {
    if (error instanceof KernelError) return undefined;
    throw error;
  } finally {
    link.close();
  }
}
