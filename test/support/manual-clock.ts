import type { Clock, Timer } from '../../src/lib/clock.ts';

interface Alarm {
  readonly at: number;
  readonly fn: () => void;
}

/** A clock whose time passes only when a test advances it. */
export class ManualClock implements Clock {
  #elapsed = 0;
  /** The time that the clock showed at the start. */
  #start: number;
  readonly #alarms = new Set<Alarm>();

  constructor(now = 0) {
    this.#start = now;
  }

  now(): number {
    return this.#start + this.#elapsed;
  }

  elapsed(): number {
    return this.#elapsed;
  }

  /** Sets the clock to another time. No time passes, so timers do not fire earlier or later. */
  set(now: number): void {
    this.#start = now - this.#elapsed;
  }

  setTimer(ms: number, fn: () => void): Timer {
    const alarm = { at: this.#elapsed + Math.max(0, ms), fn };
    this.#alarms.add(alarm);
    return { cancel: () => this.#alarms.delete(alarm) };
  }

  /** The number of timers that have not fired. */
  get pending(): number {
    return this.#alarms.size;
  }

  /** Lets time pass. Timers fire in the order of their times, and promises settle after each timer. */
  async advance(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await settled();
    for (let alarm = this.#next(end); alarm; alarm = this.#next(end)) {
      this.#alarms.delete(alarm);
      this.#elapsed = alarm.at;
      alarm.fn();
      await settled();
    }
    this.#elapsed = end;
  }

  #next(end: number): Alarm | undefined {
    let first: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.at <= end && (!first || alarm.at < first.at)) first = alarm;
    }
    return first;
  }
}

/** Resolves after all promises that can settle have settled. */
function settled(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
