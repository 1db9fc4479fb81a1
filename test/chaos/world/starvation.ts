import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 100;
const KEPT_MS = 600_000;

interface Sample {
  readonly at: number;
  /** The sum of all waits until then. */
  readonly waitedMs: number;
}

/**
 * How long a busy machine kept the programs of a run from working: the proxy, the API server, and this process, which
 * relays between the two.
 */
export class Starvation {
  readonly #pids: () => readonly (number | undefined)[];
  readonly #former = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #samples: Sample[] = [];
  #expectedAt = now() + SAMPLE_MS;
  #waitedMs = 0;

  constructor(pids: () => readonly (number | undefined)[]) {
    this.#pids = pids;
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  /** The time for which they waited between the two times. */
  waitedMs(begin: number, end: number): number {
    const before = this.#samples.findLast(({ at }) => at <= begin) ?? this.#samples[0];
    const after = this.#samples.find(({ at }) => at >= end) ?? this.#samples.at(-1);
    return before && after ? Math.max(0, after.waitedMs - before.waitedMs) : 0;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const at = now();
    this.#waitedMs += Math.max(0, at - this.#expectedAt);
    this.#expectedAt = at + SAMPLE_MS;
    for (const pid of this.#pids()) if (pid !== undefined) this.#waitedMs += this.#longestWait(pid);
    this.#samples.push({ at, waitedMs: this.#waitedMs });
    if (this.#samples.length > (2 * KEPT_MS) / SAMPLE_MS) this.#samples = this.#samples.slice(-KEPT_MS / SAMPLE_MS);
  }

  /** How long the thread of the process that waited most has waited for a processor since the last call. */
  #longestWait(pid: number): number {
    let longest = 0;
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const waited = waitOf(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1'));
        longest = Math.max(longest, waited - (this.#former.get(thread) ?? waited));
        this.#former.set(thread, waited);
      }
    } catch {
      // The process or the thread has ended.
    }
    return longest;
  }
}

/** The second number of /proc/PID/schedstat: the time in a queue for a processor, in nanoseconds. */
function waitOf(schedstat: string): number {
  return Number(schedstat.split(' ')[1]) / 1e6;
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
