import { readdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { check, fileSystemType, open } from '../libc.ts';

/** `CGROUP2_SUPER_MAGIC` */
const CGROUP2_FILE_SYSTEM = 0x63677270;
/** The inode of the root of the whole hierarchy. */
const ROOT_ID = 1n;
const O_DIRECTORY_CLOEXEC = 0o2200000;

/** A hybrid hierarchy has cgroup2 in the folder `unified`, and older ones beside it. */
const USUAL_PLACES = ['/sys/fs/cgroup/unified', '/sys/fs/cgroup'];

/** Folders that kubelets make. A control group that has one is the root of a node that is a container itself. */
const KUBELET_FOLDER = /^(?:kubepods(?:\.slice)?|kubelet.*)$/;

export interface ControlGroup {
  readonly path: string;
  /** What the kernel calls the id of the control group. */
  readonly id: bigint;
}

/** What to find where. Tests look elsewhere. */
interface Search {
  readonly usual?: readonly string[];
  readonly isCgroup2?: (path: string) => boolean;
  readonly rootId?: bigint;
  readonly nodeName?: string;
}

/**
 * The control group that has all processes of the node, or why there is none. Sockets outside of it would not be
 * served. `named` is the folder that the operator chose, which is taken as it is.
 */
export function nodeControlGroup(
  named?: string,
  { usual = USUAL_PLACES, isCgroup2 = isOnCgroup2, rootId = ROOT_ID, nodeName = hostname() }: Search = {},
): ControlGroup | { readonly missing: string } {
  if (named !== undefined) {
    return isCgroup2(named) ? groupAt(named) : { missing: `${named} is no folder of a cgroup2 file system` };
  }
  const path = hierarchyFolder(usual, isCgroup2);
  if (path === undefined) return { missing: `no cgroup2 file system is mounted at ${usual.join(' or ')}` };
  const group = groupAt(path);
  if (hasPods(path)) return group;
  if (group.id !== rootId) {
    return { missing: `${path} has only the processes of this container; mount the host's /sys/fs/cgroup there` };
  }
  return groupOfOneNode(group, nodeName);
}

/**
 * Kubelets that share a machine have a control group each (`cgroupRoot`). A program at the root would also serve the pods
 * of the other nodes, with the endpoints of this node.
 */
function groupOfOneNode(root: ControlGroup, nodeName: string): ControlGroup | { readonly missing: string } {
  const nodes = childrenOf(root.path).filter(name => hasPods(join(root.path, name)));
  if (nodes.length < 2) return root;
  if (nodes.includes(nodeName)) return groupAt(join(root.path, nodeName));
  return {
    missing: `several nodes share ${root.path}: ${nodes.join(', ')}; name the control group of this one with --cgroup-root`,
  };
}

/** Returns a descriptor of the control group, for links. */
export function openControlGroup({ path }: ControlGroup): number {
  return check(open(path, O_DIRECTORY_CLOEXEC), `open control group ${path}`);
}

/** Where this machine or container has its cgroup2 hierarchy. */
export function hierarchyFolder(usual: readonly string[] = USUAL_PLACES, isCgroup2 = isOnCgroup2): string | undefined {
  return usual.find(isCgroup2);
}

function hasPods(path: string): boolean {
  return childrenOf(path).some(name => KUBELET_FOLDER.test(name));
}

function childrenOf(path: string): readonly string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap(entry => (entry.isDirectory() ? entry.name : []));
}

function isOnCgroup2(path: string): boolean {
  return fileSystemType(path) === CGROUP2_FILE_SYSTEM;
}

function groupAt(path: string): ControlGroup {
  return { path, id: statSync(path, { bigint: true }).ino };
}
