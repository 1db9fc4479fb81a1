import { KernelError } from '../../kernel/errors.ts';
import { closeRaw, openSpare } from '../../kernel/sockets/index.ts';

/** A descriptor that is kept for when there is no other. */
export class SpareDescriptor {
  #fd: number | undefined = openSpare();

  get isThere(): boolean {
    return this.#fd !== undefined;
  }

  /** Lets something be done with one descriptor more, which must be free again afterwards. */
  lend(work: () => void): void {
    this.close();
    work();
    this.replace();
  }

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
