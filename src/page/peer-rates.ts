import type { Clock } from '../lib/clock.ts';
import { TokenBucket } from '../lib/token-bucket.ts';

export interface PeerRate {
  /** What a peer may do at once. */
  readonly burst: number;
  /** Then once in this time. */
  readonly everyMs: number;
}

/** The peer that was seen last takes the place of the one that was not seen for the longest time. */
const MAX_PEERS = 1024;

/** Limits how often each peer does something. */
export class PeerRates {
  readonly #rate: PeerRate;
  readonly #clock: Clock;
  /** The peer that was not seen for the longest time comes first. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(rate: PeerRate, clock: Clock) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** Returns false if the peer does it too often. */
  take(peer: string): boolean {
    const now = this.#clock.elapsed();
    return this.#bucket(peer, now).take(now);
  }

  get size(): number {
    return this.#buckets.size;
  }

  #bucket(peer: string, now: number): TokenBucket {
    const bucket = this.#buckets.get(peer) ?? new TokenBucket(this.#rate.burst, this.#rate.everyMs, now);
    this.#buckets.delete(peer);
    this.#buckets.set(peer, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MAX_PEERS && oldest !== undefined) this.#buckets.delete(oldest);
    return bucket;
  }
}
