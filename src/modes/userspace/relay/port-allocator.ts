import { KernelError } from '../../../kernel/errors.ts';

/** Ports that proxies may listen on, both ends included. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Others have the port, or we may not have it. What else goes wrong would go wrong with the next one too. */
const NOT_THIS_PORT = ['EADDRINUSE', 'EACCES'];

/** Hands out ports for proxies: any that the kernel likes, or those of a range, in random order. */
export class PortAllocator {
  readonly #range: PortRange | undefined;
  readonly #random: () => number;
  readonly #used = new Set<number>();

  constructor(range?: PortRange, random: () => number = Math.random) {
    if (range && range.last < range.first) throw new RangeError('a range of ports must not be empty');
    this.#range = range;
    this.#random = random;
  }

  /**
   * Calls `open` with ports until one can be opened. Without a range it is called once with 0: the kernel chooses.
   * A port that something else has is passed over; `open` must throw a KernelError for it, and the last is thrown on.
   */
  open<T>(open: (port: number) => T): { readonly port: number; readonly opened: T } {
    if (!this.#range) return { port: 0, opened: open(0) };
    let lastError: unknown = new Error(
      `no ports remaining in the port range ${this.#range.first}-${this.#range.last}; allow more ports`,
    );
    for (const port of this.#free(this.#range)) {
      try {
        const opened = open(port);
        this.#used.add(port);
        return { port, opened };
      } catch (error) {
        if (!(error instanceof KernelError && NOT_THIS_PORT.includes(error.errno ?? ''))) throw error;
        lastError = error;
      }
    }
    throw lastError;
  }

  release(port: number): void {
    this.#used.delete(port);
  }

  *#free({ first, last }: PortRange): Generator<number> {
    const size = last - first + 1;
    const start = Math.floor(this.#random() * size);
    for (let i = 0; i < size; i++) {
      const port = first + ((start + i) % size);
      if (!this.#used.has(port)) yield port;
    }
  }
}
