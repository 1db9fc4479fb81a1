import { type FlowEvent, L4, Status } from '../kernel/conntrack/index.ts';
import { answeringKey } from './open-connections.ts';

/** How an attempt to connect ended without a connection. */
export type FailureCause = 'refused' | 'timed out';

export interface AttemptHandlers {
  /** The endpoint answered. The key is made by `endpointKey`. */
  succeeded(key: string): void;
  failed(key: string, cause: FailureCause): void;
}

/** An attempt without an answer fails after this time. The client has then sent its first packet three times. */
export const ANSWER_TIMEOUT_MS = 5000;
/** Limits memory: the proxy follows no more attempts than this at the same time. */
const MAX_ATTEMPTS = 10_000;

interface Attempt {
  readonly key: string;
  readonly since: number;
}

/** Attempts to connect with TCP that wait for an answer. All times are in milliseconds. */
export class Attempts {
  readonly #handlers: AttemptHandlers;
  /** By the kernel's identity of the flow, the oldest first. */
  readonly #waiting = new Map<number, Attempt>();

  constructor(handlers: AttemptHandlers) {
    this.#handlers = handlers;
  }

  /**
   * A flow that ends without an answer was refused: the kernel forgets it when the answer is a reset. If nothing answers,
   * the kernel keeps the flow for two minutes, so time decides.
   */
  event({ type, flow }: FlowEvent, isWatched: (key: string) => boolean, now: number): void {
    if (flow.protocol !== L4.TCP || flow.id === undefined) return;
    if (type === 'new') {
      const key = answeringKey(flow);
      if (isWatched(key) && this.#waiting.size < MAX_ATTEMPTS) this.#waiting.set(flow.id, { key, since: now });
      return;
    }
    const attempt = this.#waiting.get(flow.id);
    if (!attempt) return;
    const isAnswered = ((flow.status ?? 0) & Status.SEEN_REPLY) !== 0;
    if (!isAnswered && type !== 'destroyed') return;
    this.#waiting.delete(flow.id);
    if (isAnswered) this.#handlers.succeeded(attempt.key);
    else this.#handlers.failed(attempt.key, 'refused');
  }

  /** Ends the attempts that wait too long. */
  expire(now: number): void {
    for (const [id, { key, since }] of this.#waiting) {
      if (now - since < ANSWER_TIMEOUT_MS) return;
      this.#waiting.delete(id);
      this.#handlers.failed(key, 'timed out');
    }
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** The kernel dropped events, so nothing is known about the attempts that wait. */
  clear(): void {
    this.#waiting.clear();
  }
}
