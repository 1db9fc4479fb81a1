import type { KubeObject } from '../../api/index.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Handlers } from './handlers.ts';

/** After this many objects, other work of the process gets its turn. */
const BATCH_SIZE = 500;

/** Delivers all objects again from time to time. A handler whose own state went wrong can repair it then. */
export class Resync<T extends KubeObject> {
  readonly #objects: ReadonlyMap<string, T>;
  readonly #handlers: Handlers<T>;
  readonly #periodMs: number;
  readonly #clock: Clock;
  #timer: Timer | undefined;

  /** A period of 0 means never. */
  constructor(objects: ReadonlyMap<string, T>, handlers: Handlers<T>, periodMs: number, clock: Clock) {
    this.#objects = objects;
    this.#handlers = handlers;
    this.#periodMs = periodMs;
    this.#clock = clock;
  }

  start(): void {
    if (this.#periodMs > 0 && !this.#timer) this.#schedule();
  }

  close(): void {
    this.#timer?.cancel();
  }

  #schedule(): void {
    this.#timer = this.#clock.setTimer(this.#periodMs, () => this.#deliver(this.#objects.values()));
  }

  /** The iterator follows the map: objects that change between two batches are delivered as they are then. */
  #deliver(objects: IterableIterator<T>): void {
    for (let count = 0; count < BATCH_SIZE; count++) {
      const { done, value } = objects.next();
      if (done) {
        this.#schedule();
        return;
      }
      this.#handlers.changed({ type: 'updated', from: value, to: value });
    }
    this.#timer = this.#clock.setTimer(0, () => this.#deliver(objects));
  }
}
