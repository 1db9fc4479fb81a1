import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../errors.ts';

/** How often the kernel may break off a listing. */
const MAX_ATTEMPTS = 50;

/** The kernel breaks off a listing if any program changes any object of that kind. The listing then begins again. */
export async function uninterrupted<T>(list: () => T | Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await list();
    } catch (error) {
      if (!isInterrupted(error) || attempt === MAX_ATTEMPTS) throw error;
      await nextTurn();
    }
  }
}

/** Objects changed while the kernel listed them. */
export function isInterrupted(error: unknown): boolean {
  return error instanceof KernelError && error.code === 'KERNEL_INTERRUPTED';
}
