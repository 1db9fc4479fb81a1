import type { KubeObject } from '../../api/index.ts';
import type { Clock, Timer } from '../../lib/clock.ts';
import type { Handlers } from './handlers.ts';

/** So many are told in one go; then others have their turn. */
const PORTION = 500;

/** Tells all objects again now and then, for handlers that keep something by them which may have gone astray. */
export class Resync<T extends KubeObject> {
  readonly #objects: ReadonlyMap<string, T>;
  readonly #handlers: Handlers<T>;
  readonly #periodMs: number;
  readonly #clock: Clock;
  #timer: Timer | undefined;

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
    this.#timer = this.#clock.setTimer(this.#periodMs, () => this.#tell(this.#objects.values()));
  }

  /** What changes meanwhile is told as it is then: the iterator follows the map. */
  #tell(objects: IterableIterator<T>): void {
    for (let told = 0; told < PORTION; told++) {
      const { done, value } = objects.next();
      if (done) {
        this.#schedule();
        return;
      }
      this.#handlers.changed({ type: 'updated', from: value, to: value });
    }
    this.#timer = this.#clock.setTimer(0, () => this.#tell(objects));
  }
}
