import { ReportOnce } from '../../lib/report-once.ts';
import type { InformerReporter } from './reporter.ts';

/** Whether the watch of a resource works. Reports each problem once, until it changes or is over. */
export class WatchStatus {
  readonly #path: string;
  readonly #reporter: InformerReporter;
  readonly #reported = new ReportOnce();

  constructor(path: string, reporter: InformerReporter) {
    this.#path = path;
    this.#reporter = reporter;
  }

  failed(message: string): void {
    if (this.#reported.add('failure', message)) this.#reporter.watchFailed({ where: this.#path, message });
  }

  /** No request failed, but the API server sends nothing. */
  stalled(message: string): void {
    if (this.#reported.add('stall', message)) this.#reporter.watchStalled({ where: this.#path, message });
  }

  works(): void {
    const hadFailure = this.#reported.delete('failure');
    const hadStall = this.#reported.delete('stall');
    if (hadFailure || hadStall) this.#reporter.watchRecovered(this.#path);
  }
}
