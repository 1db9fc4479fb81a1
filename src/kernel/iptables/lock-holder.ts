import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

export interface LockHolder {
  readonly pid: number;
  /** The command's name from /proc/PID/comm. */
  readonly command: string;
}

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
  return command === undefined ? findByDescriptor(path) : { pid, command };
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

function findByDescriptor(path: string): LockHolder | undefined {
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    for (const fd of tryRead(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
      if (tryRead(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) !== path) continue;
      const info = tryRead(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'));
      const command = info && /^lock:\s+\d+: FLOCK /m.test(info) ? commandOf(Number(pid)) : undefined;
      if (command !== undefined) return { pid: Number(pid), command };
    }
  }
  return undefined;
}

function commandOf(pid: number): string | undefined {
  return tryRead(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
}

/** Combines the major and the minor number as stat does. */
function deviceNumber(major = '', minor = ''): number {
  const high = Number.parseInt(major, 16);
  const low = Number.parseInt(minor, 16);
  return (low & 0xff) + high * 0x100 + (low >> 8) * 0x100000;
}

/** Returns undefined if reading fails, because processes and their descriptors can vanish at any time. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
