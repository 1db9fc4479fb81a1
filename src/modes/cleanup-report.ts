import { type LeftoverError, leftoverOf } from './leftover.ts';

/** What the cleanup of a mode did. */
export interface Cleanup {
  /** What the cleanup removed, in words. */
  readonly removed: readonly string[];
  /** Why parts of the cleanup failed. The other parts succeeded. */
  readonly errors: readonly unknown[];
  /** What stays because other programs use it. That does no harm to a mode that takes over. */
  readonly kept: readonly LeftoverError[];
}

/** Runs the parts of a cleanup one after another. A part that fails does not stop the others. */
export class CleanupReport implements Cleanup {
  readonly removed: string[] = [];
  readonly errors: unknown[] = [];
  readonly kept: LeftoverError[] = [];

  /** `work` returns what it removed, in words, or undefined if it removed nothing. `object` stays if `work` throws. */
  async attempt(object: string, work: () => Promise<string | undefined>): Promise<void> {
    try {
      const removed = await work();
      if (removed !== undefined) this.removed.push(removed);
    } catch (error) {
      this.errors.push(leftoverOf(object, error));
    }
  }
}
