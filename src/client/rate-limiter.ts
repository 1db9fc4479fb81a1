import type { Clock } from '../lib/clock.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import { sleepUnlessAborted } from './abortable.ts';
import { ApiError } from './api-error.ts';

const DEFAULT_QPS = 5;
const DEFAULT_BURST = 10;

/** A token bucket that is full at the start. A request that finds no token waits until one is free. */
export class RateLimiter {
  readonly #bucket: TokenBucket;
  readonly #clock: Clock;

  constructor(qps: number, burst: number, clock: Clock) {
    this.#bucket = new TokenBucket(burst, 1000 / qps, clock.elapsed());
    this.#clock = clock;
  }

  /** Resolves with the length of the wait in milliseconds. */
  async wait(signal?: AbortSignal): Promise<number> {
    const now = this.#clock.elapsed();
    const ms = this.#bucket.reserve(now);
    if (ms === 0) return 0;
    try {
      await sleepUnlessAborted(ms, this.#clock, signal);
    } catch (error) {
      this.#bucket.giveBack();
      throw error;
    }
    return this.#clock.elapsed() - now;
  }
}

/** The rate limiter for an API path, by client-go's rules; undefined if there is no limit. */
export function rateLimiters(qps: number, burst: number, clock: Clock): (path: string) => RateLimiter | undefined {
  if (qps < 0) return () => undefined;
  if (qps === 0) return perApiGroup(burst > 0 ? burst : DEFAULT_BURST, clock);
  if (burst <= 0) {
    const text = 'burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0';
    throw new ApiError('configuration', text);
  }
  const shared = new RateLimiter(qps, burst, clock);
  return () => shared;
}

function perApiGroup(burst: number, clock: Clock): (path: string) => RateLimiter {
  const limiters = new Map<string, RateLimiter>();
  return path => {
    const group = /^\/api\/[^/?]+|^\/apis\/[^/?]+\/[^/?]+/.exec(path)?.[0] ?? '';
    const limiter = limiters.get(group) ?? new RateLimiter(DEFAULT_QPS, burst, clock);
    limiters.set(group, limiter);
    return limiter;
  };
}
