import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Gives the process its name. Without it, `ps -C`, `pgrep -x` and `pidof` would know the process as `node`. The command
 * line that `ps` shows is then the name and the arguments.
 */
export function setProcessName(name: string, args: readonly string[]): void {
  try {
    const title = [name, ...args].join(' ');
    // A title replaces the command line in its place in memory. A longer one would lose its end.
    if (Buffer.byteLength(title) < readFileSync('/proc/self/cmdline').length) process.title = title;
    // The title also became the name of the process, up to 15 characters of it.
    writeFileSync('/proc/self/comm', name);
  } catch {
    // The proxy works without a name: /proc may be hidden or read-only.
  }
}
