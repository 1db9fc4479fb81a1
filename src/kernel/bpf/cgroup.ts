import { existsSync, readdirSync, statSync } from 'node:fs';
import { check, fileSystemType, open } from '../libc.ts';

/** `CGROUP2_SUPER_MAGIC` */
const CGROUP2_FILE_SYSTEM = 0x63677270;
/** The inode of the root of the hierarchy. */
const ROOT_INODE = 1;

const USUAL_PLACES = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'];

/** Folders that kubelets make. A control group that has one is the root of a node that is a container itself. */
const KUBELET_FOLDER = /^(?:kubepods(?:\.slice)?|kubelet.*)$/;

export interface ControlGroup {
  readonly path: string;
  /** What the kernel calls the id of the control group. */
  readonly id: bigint;
}

/** The control group whose sockets are all sockets of the node, or why there is none. */
export function nodeControlGroup(named?: string): ControlGroup | { readonly missing: string } {
  if (named !== undefined) {
    return isControlGroup(named) ? groupAt(named) : { missing: `${named} is no folder of a cgroup2 file system` };
  }
  const path = USUAL_PLACES.find(isControlGroup);
  if (path === undefined) return { missing: `no cgroup2 file system is mounted at ${USUAL_PLACES.join(' or ')}` };
  const group = groupAt(path);
  if (group.id === BigInt(ROOT_INODE) || readdirSync(path).some(name => KUBELET_FOLDER.test(name))) return group;
  return { missing: `${path} is the control group of this container only; mount the host's /sys/fs/cgroup there` };
}

function isControlGroup(path: string): boolean {
  return existsSync(path) && fileSystemType(path) === CGROUP2_FILE_SYSTEM;
}

function groupAt(path: string): ControlGroup {
  return { path, id: statSync(path, { bigint: true }).ino };
}

const O_DIRECTORY_CLOEXEC = 0o2200000;

/** Returns a descriptor of the control group, for links. */
export function openControlGroup({ path }: ControlGroup): number {
  return check(open(path, O_DIRECTORY_CLOEXEC), `open control group ${path}`);
}
