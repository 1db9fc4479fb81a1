import { readFileSync } from 'node:fs';
import { type Ip, parseIp } from '../net/index.ts';
import type { NetworkNamespace } from './netns.ts';

/** An address that the iptables match `recent` remembers. */
export interface RecentClient {
  readonly ip: Ip;
  /** How many seconds ago the match saw it. Undefined if the kernel does not show its clock. */
  readonly secondsAgo: number | undefined;
}

const ENTRY = /^src=(\S+) ttl: \d+ last_seen: (\d+)/;
/** The kernel begins to count ticks at this number, less five minutes. */
const FIRST_TICK = 2 ** 32;
const EARLY_SECONDS = 300;
/** The ticks of a second that a kernel can be built with. */
const FREQUENCIES = [100, 250, 300, 1000];

/** The addresses in a list of the match `recent`, at most `limit`. Empty if there is no such list. */
export function readRecentClients(list: string, limit: number, namespace?: NetworkNamespace): readonly RecentClient[] {
  const read = () => readText(`/proc/thread-self/net/xt_recent/${list}`);
  const text = namespace ? namespace.run(read) : read();
  if (text === undefined) return [];
  const clock = tickClock();
  return text.split('\n', limit).flatMap(line => {
    const [, address = '', seen] = ENTRY.exec(line) ?? [];
    const ip = parseIp(address);
    return ip ? [{ ip, secondsAgo: clock && Math.max(0, (clock.now - Number(seen)) / clock.frequency) }] : [];
  });
}

/** The tick that the kernel counts now, and its ticks per second. Some containers hide the file. */
function tickClock(): { readonly now: number; readonly frequency: number } | undefined {
  const [, ticks] = /^jiffies: (\d+)$/m.exec(readText('/proc/timer_list') ?? '') ?? [];
  const uptime = Number.parseFloat(readText('/proc/uptime') ?? '');
  if (ticks === undefined || Number.isNaN(uptime)) return undefined;
  const now = Number(ticks);
  // This holds for kernels of 64 bits. The number of seconds is not exact, because the files are read one after another.
  const measured = (now - FIRST_TICK) / (uptime - EARLY_SECONDS);
  const frequency = FREQUENCIES.find(known => Math.abs(measured / known - 1) < 0.02);
  return frequency === undefined ? undefined : { now, frequency };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
