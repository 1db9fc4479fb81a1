type Cancel = () => void;

export interface RefresherOptions {
  /** Reads again. The signal aborts when nobody needs the answer any more. */
  readonly read: (signal: AbortSignal) => Promise<void>;
  /** The shortest time between two readings. */
  readonly everyMs: number;
  readonly now?: () => number;
  readonly schedule?: (run: () => void, ms: number) => Cancel;
}

/** Reads again on request: at once, or as soon as the last reading is long enough ago. Never two at a time. */
export class Refresher {
  readonly #options: Required<RefresherOptions>;
  readonly #abort = new AbortController();
  #lastAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #isWanted = false;
  #cancel: Cancel | undefined;

  constructor(options: RefresherOptions) {
    this.#options = { now: () => performance.now(), schedule: byTimer, ...options };
  }

  request(): void {
    this.#isWanted = true;
    this.#start();
  }

  close(): void {
    this.#cancel?.();
    this.#abort.abort();
  }

  #start(): void {
    if (this.#isReading || this.#cancel || this.#abort.signal.aborted) return;
    const { now, schedule, everyMs } = this.#options;
    const wait = this.#lastAt + everyMs - now();
    if (wait <= 0) void this.#read();
    else {
      this.#cancel = schedule(() => {
        this.#cancel = undefined;
        void this.#read();
      }, wait);
    }
  }

  async #read(): Promise<void> {
    this.#isWanted = false;
    this.#isReading = true;
    try {
      await this.#options.read(this.#abort.signal);
    } finally {
      this.#isReading = false;
      this.#lastAt = this.#options.now();
    }
    if (this.#isWanted) this.#start();
  }
}

function byTimer(run: () => void, ms: number): Cancel {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
