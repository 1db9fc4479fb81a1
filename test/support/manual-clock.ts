import type { Clock, Timer } from '../../src/lib/clock.ts';

interface Alarm {
  readonly at: number;
  readonly fn: () => void;
}

/** A clock for tests: time passes when the test says so. */
export class ManualClock implements Clock {
  #now: number;
  readonly #alarms = new Set<Alarm>();

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  setTimer(ms: number, fn: () => void): Timer {
    const alarm = { at: this.#now + Math.max(0, ms), fn };
    this.#alarms.add(alarm);
    return { cancel: () => this.#alarms.delete(alarm) };
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#alarms.size;
  }

  /** Lets time pass: due timers fire in their order, and promises settle after each. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let alarm = this.#next(end); alarm; alarm = this.#next(end)) {
      this.#alarms.delete(alarm);
      this.#now = alarm.at;
      alarm.fn();
      await settled();
    }
    this.#now = end;
  }

  #next(end: number): Alarm | undefined {
    let first: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.at <= end && (!first || alarm.at < first.at)) first = alarm;
    }
    return first;
  }
}

/** After every promise that is due has been handled. */
function settled(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
