import { KernelError } from '../../../kernel/errors.ts';

/** The ports at which proxies may listen. The last one belongs to the range. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Another program has the port, or the process may not use it. With any other error the next port would fail too. */
const PORT_ERRORS = ['EADDRINUSE', 'EACCES'];

/** Gives ports to proxies: those that the kernel chooses, or those of a range in random order. */
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
   * Calls `open` with one port after another until it succeeds. Skips ports for which it throws a KernelError with one
   * of `PORT_ERRORS`. Without a range it calls `open` once, with 0: the kernel chooses.
   */
  open<T>(open: (port: number) => T): { readonly port: number; readonly opened: T } {
    if (!this.#range) return { port: 0, opened: open(0) };
    let lastError: unknown = new Error(
      `no ports remaining in the port range ${this.#range.first}-${this.#range.last}; allow more ports`,
    );
    for (const port of this.#freePorts(this.#range)) {
      try {
        const opened = open(port);
        this.#used.add(port);
        return { port, opened };
      } catch (error) {
        if (!(error instanceof KernelError && PORT_ERRORS.includes(error.errno ?? ''))) throw error;
        lastError = error;
      }
    }
    throw lastError;
  }

  release(port: number): void {
    this.#used.delete(port);
  }

  *#freePorts({ first, last }: PortRange): Generator<number> {
    const size = last - first + 1;
    const start = Math.floor(this.#random() * size);
    for (let i = 0; i < size; i++) {
      const port = first + ((start + i) % size);
      if (!this.#used.has(port)) yield port;
    }
  }
}
