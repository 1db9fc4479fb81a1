import { readdirSync, statSync } from 'node:fs';
import { check, fileSystemType, open } from '../libc.ts';

/** `CGROUP2_SUPER_MAGIC` */
const CGROUP2_FILE_SYSTEM = 0x63677270;
/** The inode of the root of the whole hierarchy. */
const ROOT_ID = 1n;

/** A hybrid hierarchy has cgroup2 in the folder `unified`, and older ones beside it. */
const USUAL_PLACES = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'];

/** Folders that kubelets make. A control group that has one is the root of a node that is a container itself. */
const KUBELET_FOLDER = /^(?:kubepods(?:\.slice)?|kubelet.*)$/;

export interface ControlGroup {
  readonly path: string;
  /** What the kernel calls the id of the control group. */
  readonly id: bigint;
}

/** Where to look. Tests look elsewhere. */
interface Places {
  readonly usual?: readonly string[];
  readonly isCgroup2?: (path: string) => boolean;
}

/**
 * The control group that has all processes of the node, or why there is none. Sockets outside of it would not be
 * served. `named` is the folder that the operator chose, which is taken as it is.
 */
export function nodeControlGroup(
  named?: string,
  { usual = USUAL_PLACES, isCgroup2 = isOnCgroup2 }: Places = {},
): ControlGroup | { readonly missing: string } {
  if (named !== undefined) {
    return isCgroup2(named) ? groupAt(named) : { missing: `${named} is no folder of a cgroup2 file system` };
  }
  const path = usual.find(isCgroup2);
  if (path === undefined) return { missing: `no cgroup2 file system is mounted at ${usual.join(' or ')}` };
  const group = groupAt(path);
  if (group.id === ROOT_ID || readdirSync(path).some(name => KUBELET_FOLDER.test(name))) return group;
  return { missing: `${path} has only the processes of this container; mount the host's /sys/fs/cgroup there` };
}

function isOnCgroup2(path: string): boolean {
  return fileSystemType(path) === CGROUP2_FILE_SYSTEM;
}

function groupAt(path: string): ControlGroup {
  return { path, id: statSync(path, { bigint: true }).ino };
}

const O_DIRECTORY_CLOEXEC = 0o2200000;

/** Returns a descriptor of the control group, for links. */
export function openControlGroup({ path }: ControlGroup): number {
  return check(open(path, O_DIRECTORY_CLOEXEC), `open control group ${path}`);
}
