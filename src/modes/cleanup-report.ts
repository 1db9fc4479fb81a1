/** What the cleanup of a mode did. */
export interface Cleanup {
  /** What the cleanup removed, in words. */
  readonly removed: readonly string[];
  /** Why parts of the cleanup failed. The other parts succeeded. */
  readonly errors: readonly unknown[];
}

/** Runs the parts of a cleanup one after another. A part that fails does not stop the others. */
export class CleanupReport implements Cleanup {
  readonly removed: string[] = [];
  readonly errors: unknown[] = [];

  /** `work` returns what it removed, in words, or undefined if it removed nothing. */
  async attempt(work: () => Promise<string | undefined>): Promise<void> {
    try {
      const object = await work();
      if (object !== undefined) this.removed.push(object);
    } catch (error) {
      this.errors.push(error);
    }
  }
}
