import { KernelError } from '../../kernel/errors.ts';
import { closeRaw, openSpare } from '../../kernel/sockets/index.ts';

/** A descriptor in reserve, for the moment when the process has no other left. */
export class SpareDescriptor {
  #fd: number | undefined = openSpare();

  /** Runs work that needs one more descriptor. The work must close that descriptor before it returns. */
  lend<T>(work: () => T): T {
    this.close();
    try {
      return work();
    } finally {
      this.replace();
    }
  }

  /** Opens the reserve again. If another part of the process took the free descriptor, a later call retries. */
  replace(): void {
    try {
      this.#fd ??= openSpare();
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
    }
  }

  close(): void {
    if (this.#fd !== undefined) closeRaw(this.#fd);
    this.#fd = undefined;
  }
}
