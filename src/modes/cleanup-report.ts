/** What the cleanup of a mode did. */
export interface Cleanup {
  /** What was removed, in words. */
  readonly removed: readonly string[];
  /** What could not be done; the rest was. */
  readonly errors: readonly unknown[];
}

/** Does one part after another, also if one fails. */
export class CleanupReport implements Cleanup {
  readonly removed: string[] = [];
  readonly errors: unknown[] = [];

  /** `work` says what it removed, if anything. */
  async attempt(work: () => Promise<string | undefined>): Promise<void> {
    try {
      const what = await work();
      if (what !== undefined) this.removed.push(what);
    } catch (error) {
      this.errors.push(error);
    }
  }
}
