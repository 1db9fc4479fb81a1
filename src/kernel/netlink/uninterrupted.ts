import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../errors.ts';

/** A long listing needs many attempts, a short one needs time: another program may change objects every millisecond. */
const MIN_ATTEMPTS = 50;
const MIN_MS = 5000;

/** The kernel breaks off a listing if any program changes any object of that kind. The listing then begins again. */
export async function uninterrupted<T>(list: () => T | Promise<T>): Promise<T> {
  const start = performance.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await list();
    } catch (error) {
      if (!isInterrupted(error)) throw error;
      if (attempt >= MIN_ATTEMPTS && performance.now() - start > MIN_MS) throw error;
      await nextTurn();
    }
  }
}

/** Objects changed while the kernel listed them. */
export function isInterrupted(error: unknown): boolean {
  return error instanceof KernelError && error.code === 'KERNEL_INTERRUPTED';
}
