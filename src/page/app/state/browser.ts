/** What the live client needs to know of the browser. */
export interface Browser {
  readonly isHidden: boolean;
  /** Called when the page is hidden or visible again, and when the machine is online again. */
  onChange(listener: () => void): void;
}

export const browser: Browser = {
  get isHidden() {
    return document.hidden;
  },
  onChange(listener) {
    document.addEventListener('visibilitychange', listener);
    globalThis.addEventListener('online', listener);
  },
};
