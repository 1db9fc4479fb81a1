import { MetricSet } from './metric-set.ts';
import { processStartTime } from './process-metrics.ts';

/** What the checks of this server said, in the form that service-level indicators are gathered. */
export class HealthCheckMetrics {
  readonly #set = new MetricSet();
  readonly #last = this.#set.gauge(
    'kubernetes_healthcheck',
    ['name', 'type'],
    '[STABLE] This metric records the result of a single healthcheck.',
  );
  readonly #all = this.#set.counter(
    'kubernetes_healthchecks_total',
    ['name', 'status', 'type'],
    '[STABLE] This metric records the results of all healthcheck.',
  );

  constructor() {
    processStartTime(this.#set, '[ALPHA] ');
  }

  succeeded(name: string, type: string): void {
    this.#last.set({ name, type }, 1);
    this.#all.inc({ name, status: 'success', type });
  }

  reset(): void {
    this.#last.reset();
    this.#all.reset();
  }

  text(): Promise<string> {
    return this.#set.text();
  }
}
