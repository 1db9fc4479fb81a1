import type { Endpoint } from '../model/index.ts';

/** A new endpoint gets one more tenth of its share with each step. */
const STEPS = 10;

/** The new endpoints of one service port, which get their share step by step. All times are in milliseconds. */
export class SlowStart {
  /** When the endpoint became ready, by its text. */
  readonly #since = new Map<string, number>();
  #stepMs = 0;

  /** If none of the endpoints was ready before, all have their whole share at once. */
  changed(seconds: number, from: readonly Endpoint[], to: readonly Endpoint[], now: number): void {
    const before = readyTexts(from);
    const after = readyTexts(to);
    for (const [text, since] of this.#since) {
      if (!after.has(text) || this.#step(since, now) >= STEPS) this.#since.delete(text);
    }
    this.#stepMs = (seconds * 1000) / STEPS;
    const added = [...after].filter(text => !before.has(text));
    if (seconds === 0 || added.length === after.size) this.#since.clear();
    else for (const text of added) this.#since.set(text, now);
  }

  /** From 0.1 to 1. */
  share(text: string, now: number): number {
    const since = this.#since.get(text);
    return since === undefined ? 1 : this.#step(since, now) / STEPS;
  }

  /** When a share changes next. Undefined if all endpoints have their whole share. */
  nextStep(now: number): number | undefined {
    const next = Array.from(this.#since.values(), since => {
      const step = this.#step(since, now);
      return step < STEPS ? since + step * this.#stepMs : Number.POSITIVE_INFINITY;
    });
    const first = Math.min(...next);
    return Number.isFinite(first) ? first : undefined;
  }

  /** From 1 to `STEPS`. */
  #step(since: number, now: number): number {
    return Math.min(STEPS, Math.floor((now - since) / this.#stepMs) + 1);
  }
}

function readyTexts(endpoints: readonly Endpoint[]): ReadonlySet<string> {
  return new Set(endpoints.filter(({ ready }) => ready).map(({ text }) => text));
}
