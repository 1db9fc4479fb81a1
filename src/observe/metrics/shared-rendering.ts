import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';

/** After a rendering comes a pause, so that rendering takes at most a quarter of the time. */
const PAUSE_PER_RENDERING = 3;
const MAX_PAUSE_MS = 1000;
/** Peers that have not taken their answers hold at most this many texts in memory. */
const MAX_HELD = 4;

const zip = promisify(gzip);

/** One text for many callers. */
class Rendering {
  readonly plain: Buffer;
  #zipped: Promise<Buffer> | undefined;

  constructor(plain: Buffer) {
    this.plain = plain;
  }

  /** Compresses the text once for all callers. */
  zipped(): Promise<Buffer> {
    this.#zipped ??= zip(this.plain);
    return this.#zipped;
  }
}

/**
 * Renders a text once for all callers that ask at the same moment, and so reads the kernel once for them. A peer that
 * does not take its answer holds the text in memory. While peers hold too many, other callers get the last text again.
 */
export class SharedRendering {
  readonly #clock: Clock;
  readonly #render: () => Promise<string>;
  /** The number of callers that have not taken each text. The last one is the newest. */
  readonly #held = new Map<Rendering, number>();
  #running: Promise<Rendering> | undefined;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, render: () => Promise<string>) {
    this.#clock = clock;
    this.#render = render;
  }

  /** The caller holds the text until the signal is aborted. */
  async get(taken: AbortSignal): Promise<Rendering> {
    const rendering = this.#newestIfTooMany() ?? (await this.#startOrJoin());
    if (taken.aborted) return rendering;
    this.#held.set(rendering, (this.#held.get(rendering) ?? 0) + 1);
    taken.addEventListener('abort', () => this.#release(rendering), { once: true });
    return rendering;
  }

  #newestIfTooMany(): Rendering | undefined {
    return this.#held.size >= MAX_HELD ? [...this.#held.keys()].at(-1) : undefined;
  }

  #startOrJoin(): Promise<Rendering> {
    this.#running ??= this.#start();
    return this.#running;
  }

  async #start(): Promise<Rendering> {
    const pause = this.#notBefore - this.#clock.elapsed();
    if (pause > 0) await sleep(pause, this.#clock);
    const start = this.#clock.elapsed();
    try {
      return new Rendering(Buffer.from(await this.#render()));
    } finally {
      const end = this.#clock.elapsed();
      this.#notBefore = end + Math.min(MAX_PAUSE_MS, PAUSE_PER_RENDERING * (end - start));
      this.#running = undefined;
    }
  }

  #release(rendering: Rendering): void {
    const count = this.#held.get(rendering) ?? 0;
    if (count > 1) this.#held.set(rendering, count - 1);
    else this.#held.delete(rendering);
  }
}
