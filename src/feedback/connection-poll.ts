import { ConntrackSocket, type Flow, type FlowFilter } from '../kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Clock, Timer } from '../lib/clock.ts';

/** The shortest time between two looks. */
const MIN_PAUSE_MS = 1000;
/** A look takes at most this part of the time, so that a large table costs little. */
const MAX_BUSY_PART = 0.05;
const PAUSE_AFTER_FAILURE_MS = 30_000;

/** The kernel's table of connections. Tests give another one. */
export interface FlowTable {
  batchesInBackground(filter: FlowFilter): AsyncIterable<readonly Flow[]>;
  close(): void;
}

export interface ConnectionPollOptions {
  readonly clock: Clock;
  readonly namespace?: NetworkNamespace | undefined;
  readonly open?: (() => FlowTable) | undefined;
  /** What to ask the kernel for. Called at the start of each look. */
  filters(): Promise<readonly FlowFilter[]>;
  found(flow: Flow): void;
  /** The look is over. */
  finished(): Promise<void>;
  onError(error: unknown): void;
}

/** Looks at the kernel's table of connections again and again. */
export class ConnectionPoll {
  readonly #options: ConnectionPollOptions;
  readonly #table: FlowTable;
  #timer: Timer | undefined;
  #look: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: ConnectionPollOptions) {
    this.#options = options;
    this.#table = options.open?.() ?? ConntrackSocket.open({ namespace: options.namespace });
    this.#schedule(MIN_PAUSE_MS);
  }

  /** Resolves when the look that runs has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#look;
    this.#table.close();
  }

  #schedule(ms: number): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.clock.setTimer(ms, () => {
      this.#look = this.#run();
    });
  }

  async #run(): Promise<void> {
    const { clock, filters, found, finished, onError } = this.#options;
    const start = clock.elapsed();
    try {
      for (const filter of await filters()) {
        for await (const batch of this.#table.batchesInBackground(filter)) {
          if (this.#isClosed) return;
          for (const flow of batch) found(flow);
        }
      }
      if (this.#isClosed) return;
      await finished();
      const busy = clock.elapsed() - start;
      this.#schedule(Math.max(MIN_PAUSE_MS - busy, busy / MAX_BUSY_PART - busy));
    } catch (error) {
      onError(error);
      this.#schedule(PAUSE_AFTER_FAILURE_MS);
    }
  }
}
