import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

export interface LockHolder {
  readonly pid: number;
  /** The command's name, as in /proc/PID/comm. */
  readonly command: string;
}

/**
 * Who holds an flock on a file, undefined if nobody does. The kernel shows only processes of our own process namespace,
 * so a container that has its own does not see a holder on the host.
 */
export function findLockHolder(path: string): LockHolder | undefined {
  const file = readable(() => statSync(path));
  const locks = readable(() => readFileSync('/proc/locks', 'utf8'));
  if (!file || !locks) return undefined;
  const pid = flockOwner(locks, file.dev, file.ino);
  if (pid === undefined) return undefined;
  // The owner is who called flock. A shell that let the program `flock` lock its descriptor holds on after that ended.
  const command = commandOf(pid);
  return command === undefined ? findByDescriptor(path) : { pid, command };
}

/** Reads `1: FLOCK  ADVISORY  WRITE 6451 fe:00:9773057 0 EOF`. Lines with `->` are those who wait. */
export function flockOwner(locks: string, device: number, inode: number): number | undefined {
  let elsewhere: number | undefined;
  for (const line of locks.split('\n')) {
    const match = /^\d+: FLOCK +\S+ +\S+ +(\d+) ([0-9a-f]+):([0-9a-f]+):(\d+) /.exec(line);
    if (!match || Number(match[4]) !== inode) continue;
    const pid = Number(match[1]);
    if (deviceNumber(match[2], match[3]) === device) return pid;
    elsewhere ??= pid;
  }
  // File systems made of others report another device to stat than they have themselves.
  return elsewhere;
}

function findByDescriptor(path: string): LockHolder | undefined {
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    for (const fd of readable(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
      if (readable(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) !== path) continue;
      const info = readable(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'));
      const command = info && /^lock:\s+\d+: FLOCK /m.test(info) ? commandOf(Number(pid)) : undefined;
      if (command !== undefined) return { pid: Number(pid), command };
    }
  }
  return undefined;
}

function commandOf(pid: number): string | undefined {
  return readable(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
}

/** The kernel's major and minor number as stat gives them in one. */
function deviceNumber(major = '', minor = ''): number {
  const high = Number.parseInt(major, 16);
  const low = Number.parseInt(minor, 16);
  return (low & 0xff) + high * 0x100 + (low >> 8) * 0x100000;
}

/** Processes and their descriptors may be gone between two looks. */
function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
