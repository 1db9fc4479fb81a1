import type { Node } from '../api/index.ts';
import type { Change } from '../lib/change.ts';
import { type Clock, systemClock } from '../lib/clock.ts';

interface Waiter {
  readonly isEnough: (node: Node) => boolean;
  readonly done: (isEnough: boolean) => void;
}

/** What the API says of the node that the proxy runs on, as it changes. */
export class OwnNode {
  readonly #clock: Clock;
  readonly #waiters = new Set<Waiter>();
  #node: Node | undefined;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  get node(): Node | undefined {
    return this.#node;
  }

  /** A Node that is deleted while its proxy runs is about to come back; what was known of it stays. */
  handle(change: Change<Node>): void {
    if (change.type === 'removed') return;
    this.#node = change.to;
    for (const waiter of this.#waiters) {
      if (waiter.isEnough(change.to)) waiter.done(true);
    }
  }

  /** Resolves with true as soon as the node is as wanted, with false if it is not in time. */
  until(isEnough: (node: Node) => boolean, ms: number): Promise<boolean> {
    if (this.#node && isEnough(this.#node)) return Promise.resolve(true);
    return new Promise(resolve => {
      const done = (result: boolean) => {
        timer.cancel();
        this.#waiters.delete(waiter);
        resolve(result);
      };
      const waiter: Waiter = { isEnough, done };
      const timer = this.#clock.setTimer(ms, () => done(false));
      this.#waiters.add(waiter);
    });
  }
}
