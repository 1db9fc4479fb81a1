import { readFileSync, statSync } from 'node:fs';
import { commandOf, findByDescriptor, type RunningProcess, tryRead } from '../processes.ts';

export type LockHolder = RunningProcess;

/**
 * The process that holds an flock on a file, or undefined if none does. The kernel shows only processes of our own PID
 * namespace, so a container with its own PID namespace does not see a holder on the host.
 */
export function findLockHolder(path: string): LockHolder | undefined {
  const file = tryRead(() => statSync(path));
  const locks = tryRead(() => readFileSync('/proc/locks', 'utf8'));
  if (!file || !locks) return undefined;
  const pid = flockOwner(locks, file.dev, file.ino);
  if (pid === undefined) return undefined;
  // The owner is the process that called flock. If a shell used the program `flock` on its own descriptor, that program
  // has ended, but the shell still holds the lock.
  const command = commandOf(pid);
  return command === undefined ? findByDescriptor(path, hasFlock) : { pid, command };
}

/** Reads `1: FLOCK  ADVISORY  WRITE 6451 fe:00:9773057 0 EOF`. Lines with `->` name processes that wait. */
export function flockOwner(locks: string, device: number, inode: number): number | undefined {
  let onOtherDevice: number | undefined;
  for (const line of locks.split('\n')) {
    const match = /^\d+: FLOCK +\S+ +\S+ +(\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) /.exec(line);
    if (!match || Number(match[4]) !== inode) continue;
    const pid = Number(match[1]);
    if (deviceNumber(match[2], match[3]) === device) return pid;
    onOtherDevice ??= pid;
  }
  // Overlay file systems report another device number to stat than /proc/locks shows.
  return onOtherDevice;
}

function hasFlock(pid: string, fd: string): boolean {
  const info = tryRead(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'));
  return info !== undefined && /^lock:\s+\d+: FLOCK /m.test(info);
}

/** Combines the major and the minor number as stat does. */
function deviceNumber(major = '', minor = ''): number {
  const high = Number.parseInt(major, 16);
  const low = Number.parseInt(minor, 16);
  return (low & 0xff) + high * 0x100 + (low >> 8) * 0x100000;
}
