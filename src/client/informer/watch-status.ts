import { ReportOnce } from '../../lib/report-once.ts';
import type { InformerReporter } from './reporter.ts';
import type { Resource } from './resource.ts';

/** Whether the watch of a resource works. Reports each problem once, until it changes or is over. */
export class WatchStatus {
  readonly #path: string;
  readonly #isOptional: boolean;
  readonly #reporter: InformerReporter;
  readonly #reported = new ReportOnce();

  constructor({ path, isOptional = false }: Resource, reporter: InformerReporter) {
    this.#path = path;
    this.#isOptional = isOptional;
    this.#reporter = reporter;
  }

  /** `isUnavailable`: the API server does not have the resource, or does not allow to read it. */
  failed(message: string, isUnavailable: boolean): void {
    if (!this.#reported.add('failure', message)) return;
    const problem = { where: this.#path, message };
    if (isUnavailable && this.#isOptional) this.#reporter.optionalUnavailable(problem);
    else this.#reporter.watchFailed(problem);
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
