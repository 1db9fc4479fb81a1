import { KernelError } from '../../../kernel/errors.ts';
import { closeRaw, openSpare } from '../../../kernel/sockets/index.ts';

/** A descriptor that is kept for when there is no other. */
export class SpareDescriptor {
  #fd: number | undefined = openSpare();

  /** Lets something be done with one descriptor more, which must be free again afterwards. */
  lend<T>(work: () => T): T {
    this.close();
    try {
      return work();
    } finally {
      this.replace();
    }
  }

  /** Someone may have been faster when it was lent. */
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
