/** Remembers the last text about each subject, so that a caller reports a text once and again when it changes. */
export class ReportOnce {
  readonly #last = new Map<string, string>();

  /** Returns true if the text is to be reported: it is not the last text about the subject. */
  add(subject: string, text: string): boolean {
    if (this.#last.get(subject) === text) return false;
    this.#last.set(subject, text);
    return true;
  }

  /** Forgets the subject. Returns true if there was a text about it. */
  delete(subject: string): boolean {
    return this.#last.delete(subject);
  }

  subjects(): IterableIterator<string> {
    return this.#last.keys();
  }
}
