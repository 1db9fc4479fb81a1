import type { Entry } from './entry.ts';

/** An entry, or how many entries the reader missed because it was too slow. */
export type Followed = Entry | { readonly missed: number };

/** A reader that is further behind misses entries. */
const MAX_QUEUED = 1024;

/** The readers that follow the history. */
export class Followers {
  readonly #queues = new Set<Queue>();

  get size(): number {
    return this.#queues.size;
  }

  /** An entry is complete. */
  publish(entry: Entry): void {
    for (const queue of this.#queues) queue.push(entry);
  }

  /** Returns entries from the moment of this call. The reader ends it by the signal, or by leaving the loop. */
  follow(signal: AbortSignal): AsyncGenerator<Followed> {
    const queue = new Queue();
    const end = () => {
      this.#queues.delete(queue);
      queue.end();
    };
    if (signal.aborted) queue.end();
    else {
      this.#queues.add(queue);
      signal.addEventListener('abort', end, { once: true });
    }
    return drain(queue, () => {
      signal.removeEventListener('abort', end);
      end();
    });
  }
}

async function* drain(queue: Queue, onEnd: () => void): AsyncGenerator<Followed> {
  try {
    for (;;) {
      for (const followed of queue.take()) yield followed;
      if (queue.isEnded) return;
      await queue.filled();
    }
  } finally {
    onEnd();
  }
}

class Queue {
  #entries: Entry[] = [];
  #missed = 0;
  #isEnded = false;
  #wake: (() => void) | undefined;

  get isEnded(): boolean {
    return this.#isEnded;
  }

  push(entry: Entry): void {
    // A copy, because the entry may get a further count later.
    if (this.#entries.length < MAX_QUEUED) this.#entries.push({ ...entry });
    else this.#missed++;
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  take(): readonly Followed[] {
    const taken: Followed[] = this.#entries;
    if (this.#missed > 0) taken.push({ missed: this.#missed });
    this.#entries = [];
    this.#missed = 0;
    return taken;
  }

  /** Resolves when there is something to take, or at the end. */
  async filled(): Promise<void> {
    if (this.#isEnded || this.#entries.length > 0) return;
    await new Promise<void>(resolve => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }
}
