import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** A process of our own PID namespace. A container does not see the processes of other containers. */
export interface RunningProcess {
  readonly pid: number;
  /** The command's name from /proc/PID/comm. */
  readonly command: string;
}

/** The first process with a descriptor whose link in /proc is `target` and that `isWanted` accepts. */
export function findByDescriptor(
  target: string,
  isWanted: (pid: string, fd: string) => boolean = () => true,
): RunningProcess | undefined {
  for (const pid of (tryRead(() => readdirSync('/proc')) ?? []).filter(name => /^\d+$/.test(name))) {
    for (const fd of tryRead(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
      if (tryRead(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) !== target || !isWanted(pid, fd)) continue;
      const command = commandOf(Number(pid));
      if (command !== undefined) return { pid: Number(pid), command };
    }
  }
  return undefined;
}

export function commandOf(pid: number): string | undefined {
  return tryRead(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
}

/** Returns undefined if reading fails, because processes and their descriptors can vanish at any time. */
export function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const DESCRIPTORS_PER_TURN = 500;

/** The processes that have these sockets open, by the inode. `isComplete` is false if the time was over before the end. */
export interface SocketOwners {
  readonly owners: ReadonlyMap<number, RunningProcess>;
  readonly isComplete: boolean;
}

/**
 * Searches the descriptors of all processes that this process can see, in small steps. A machine may have a hundred
 * thousand descriptors.
 */
export async function findSocketOwners(inodes: ReadonlySet<number>, timeoutMs: number): Promise<SocketOwners> {
  const end = performance.now() + timeoutMs;
  const targets = new Map([...inodes].map(inode => [`socket:[${inode}]`, inode]));
  const owners = new Map<number, RunningProcess>();
  for (const pid of (tryRead(() => readdirSync('/proc')) ?? []).filter(name => /^\d+$/.test(name))) {
    if (owners.size === inodes.size) break;
    for (const [at, fd] of (tryRead(() => readdirSync(`/proc/${pid}/fd`)) ?? []).entries()) {
      if (at % DESCRIPTORS_PER_TURN === 0) await nextTurn();
      const inode = targets.get(tryRead(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? '');
      if (inode === undefined || owners.has(inode)) continue;
      owners.set(inode, { pid: Number(pid), command: commandOf(Number(pid)) ?? '' });
    }
    if (performance.now() > end) return { owners, isComplete: false };
  }
  return { owners, isComplete: true };
}
