import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

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
