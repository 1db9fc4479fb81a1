import type { InformerReporter } from './reporter.ts';

/** Whether the watch of a resource works. Reports each problem once, until it changes or is over. */
export class WatchStatus {
  readonly #path: string;
  readonly #reporter: InformerReporter;
  #failure: string | undefined;
  #stall: string | undefined;

  constructor(path: string, reporter: InformerReporter) {
    this.#path = path;
    this.#reporter = reporter;
  }

  failed(message: string): void {
    if (message === this.#failure) return;
    this.#failure = message;
    this.#reporter.watchFailed({ where: this.#path, message });
  }

  /** No request failed, but the API server sends nothing. */
  stalled(message: string): void {
    if (message === this.#stall) return;
    this.#stall = message;
    this.#reporter.watchStalled({ where: this.#path, message });
  }

  works(): void {
    if (this.#failure === undefined && this.#stall === undefined) return;
    this.#failure = undefined;
    this.#stall = undefined;
    this.#reporter.watchRecovered(this.#path);
  }
}
