import type { Clock, Timer } from '../../lib/clock.ts';
import type { ApiResponse } from '../index.ts';

/** When a list that brings nothing is told of. */
export const TELL_MS = 10_000;
/**
 * Servers begin within seconds: one that is silent for so long will not end what it was asked for. Not longer, for the
 * Node is waited for before the rest.
 */
export const GIVE_UP_MS = 30_000;

/** Notices that nothing comes while a list is awaited. A list that goes on bringing something may last. */
export class Patience {
  readonly #clock: Clock;
  readonly #tell: (what: string) => void;
  #giveUp: (() => void) | undefined;
  #what = '';
  #heardAt = 0;
  #timer: Timer | undefined;

  /** `tell` hears what has been waited for too long, every ten seconds. */
  constructor(clock: Clock, tell: (what: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  begin(what: string, giveUp?: () => void): void {
    this.end();
    this.#giveUp = giveUp;
    this.heard(what);
    this.#look();
  }

  heard(what: string = this.#what): void {
    this.#what = what;
    this.#heardAt = this.#clock.elapsed();
  }

  /** Each piece of an answer is something that came. */
  listenTo(response: ApiResponse): ApiResponse {
    return { ...response, body: this.#pieces(response.body) };
  }

  end(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  async *#pieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      this.heard();
      yield piece;
    }
  }

  #look(): void {
    const silent = this.#clock.elapsed() - this.#heardAt;
    if (this.#giveUp && silent >= GIVE_UP_MS) {
      this.end();
      this.#giveUp();
      return;
    }
    if (silent >= TELL_MS) this.#tell(this.#what);
    this.#timer = this.#clock.setTimer(untilNextLook(silent), () => this.#look());
  }
}

function untilNextLook(silent: number): number {
  if (silent < TELL_MS) return TELL_MS - silent;
  return silent < GIVE_UP_MS ? Math.min(TELL_MS, GIVE_UP_MS - silent) : TELL_MS;
}
