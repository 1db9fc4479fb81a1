import { BackOff } from '../../lib/back-off.ts';
import type { Clock } from '../../lib/clock.ts';
import { sleep } from '../../lib/sleep.ts';
import { ApiError } from '../index.ts';

/**
 * Why a reflector waits before it retries.
 *
 * refused      nothing listens at the address: an attempt costs the server nothing
 * broken       there is no connection, or it broke
 * failure      the server answers with an error, or with something that cannot be read, or there are no credentials
 * old version  the server no longer has the version, which does not mean that the server fails
 */
export type WaitCause = 'refused' | 'broken' | 'failure' | 'old version';

export interface WaitOptions {
  readonly clock: Clock;
  readonly random: () => number;
}

const RESET_AFTER_MS = 120_000;
/** No wait is longer than this only because the server asks for it. */
const MAX_RETRY_AFTER_SECONDS = 60;

/** The waits before the next attempt to connect. All resources share them, so that they share one attempt, too. */
export class ConnectWaits {
  readonly #clock: Clock;
  readonly #backOffs: Readonly<Record<'refused' | 'broken', BackOff>>;
  #nextAttemptAt = 0;

  constructor({ clock, random }: WaitOptions) {
    this.#clock = clock;
    this.#backOffs = {
      refused: new BackOff({ firstMs: 500, maxMs: 500, random, clock }),
      broken: new BackOff({ firstMs: 800, maxMs: 4000, resetAfterMs: RESET_AFTER_MS, random, clock }),
    };
  }

  /** Returns how long to wait, in milliseconds. A resource that fails while another one waits gets the same moment. */
  fail(cause: 'refused' | 'broken'): number {
    const now = this.#clock.elapsed();
    if (now >= this.#nextAttemptAt) this.#nextAttemptAt = now + this.#backOffs[cause].fail();
    return this.#nextAttemptAt - now;
  }
}

/** The waits of one resource. */
export class RetryWaits {
  readonly #clock: Clock;
  readonly #connectWaits: ConnectWaits;
  readonly #backOffs: Readonly<Record<'failure' | 'old version', BackOff>>;
  /** Ends the current wait. */
  #end: AbortController | undefined;
  /** Another resource that reaches the server ends the current wait. */
  #isForServer = false;

  constructor({ clock, random }: WaitOptions, connectWaits: ConnectWaits) {
    this.#clock = clock;
    this.#connectWaits = connectWaits;
    const common = { firstMs: 800, resetAfterMs: RESET_AFTER_MS, random, clock };
    this.#backOffs = {
      failure: new BackOff({ ...common, maxMs: 10_000 }),
      'old version': new BackOff({ ...common, maxMs: 30_000 }),
    };
  }

  /**
   * Waits at least as long as the server asks for in its error. The random part is added to that: a busy server asks
   * many proxies for the same time, and all of them would come back at the same moment.
   */
  async wait(cause: WaitCause, error: unknown): Promise<void> {
    const minMs = retryAfterMs(error);
    this.#end = new AbortController();
    this.#isForServer = isOfServer(error) && minMs === 0;
    await sleep(this.#backOffMs(cause, minMs), this.#clock, this.#end.signal);
    this.#end = undefined;
  }

  serverReached(): void {
    if (this.#isForServer) this.#end?.abort();
  }

  close(): void {
    this.#end?.abort();
  }

  #backOffMs(cause: WaitCause, minMs: number): number {
    if (cause === 'failure' || cause === 'old version') return this.#backOffs[cause].fail(minMs);
    // The process of the server is gone. The next one that answers has not failed before.
    if (cause === 'refused') this.#backOffs.failure.reset();
    return this.#connectWaits.fail(cause);
  }
}

function retryAfterMs(error: unknown): number {
  const seconds = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) : 0;
  return Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000;
}

/** Whether the other resources probably have the same problem. A server that starts answers 403 for a while. */
function isOfServer(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { code, status = 0 } = error;
  return code !== 'status' || status === 401 || status === 403 || status >= 500;
}
