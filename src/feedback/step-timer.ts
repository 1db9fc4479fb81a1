import type { Clock, Timer } from '../lib/clock.ts';
import type { WatchedPort } from './watched-port.ts';

/** Shares do not change more often. */
const MIN_PAUSE_MS = 1000;

export interface StepTimerOptions {
  readonly clock: Clock;
  ports(): Iterable<WatchedPort>;
  sharesChanged(port: WatchedPort): void;
  /** An endpoint that was left out is used again. */
  returned(port: WatchedPort, endpoint: string): void;
}

/** Wakes up when the share of an endpoint changes because time has passed, or an endpoint is used again. */
export class StepTimer {
  readonly #options: StepTimerOptions;
  #timer: Timer | undefined;
  #lastSteps = Number.NEGATIVE_INFINITY;

  constructor(options: StepTimerOptions) {
    this.#options = options;
  }

  /** The service ports changed. */
  update(): void {
    this.close();
    const { clock } = this.#options;
    const next = this.#nextStep();
    if (next === undefined) return;
    const due = Math.max(next, this.#lastSteps + MIN_PAUSE_MS);
    this.#timer = clock.setTimer(due - clock.elapsed(), () => this.#takeSteps());
  }

  close(): void {
    this.#timer?.cancel();
  }

  #nextStep(): number | undefined {
    let next: number | undefined;
    for (const port of this.#options.ports()) {
      const step = port.nextStep();
      if (step !== undefined && (next === undefined || step < next)) next = step;
    }
    return next;
  }

  #takeSteps(): void {
    const { clock, ports, sharesChanged, returned } = this.#options;
    for (const port of ports()) {
      const endpoints = port.takeReturns();
      for (const endpoint of endpoints) returned(port, endpoint);
      if (!port.takeStep() && endpoints.length === 0) continue;
      // A timer may fire a little too early. Then no step was taken, and the next one must not wait.
      this.#lastSteps = clock.elapsed();
      sharesChanged(port);
    }
    this.update();
  }
}
