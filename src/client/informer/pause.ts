import type { Clock } from '../../lib/clock.ts';

/** A wait that another call can end early. */
export class Pause {
  readonly #clock: Clock;
  #end: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wait(ms: number): Promise<void> {
    return new Promise(resolve => {
      const timer = this.#clock.setTimer(ms, () => this.end());
      this.#end = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  end(): void {
    this.#end?.();
    this.#end = undefined;
  }
}
