import { type HttpAnswer, type HttpRequest, textAnswer } from '../http/index.ts';
import { MetricSet } from './metric-set.ts';
import { processStartTime } from './process-metrics.ts';

/**
 * The answer to `/healthz` of the metrics server. It only shows that this server answers. The health of the proxy is at
 * healthzBindAddress.
 */
export function pingAnswer({ query }: HttpRequest, slis: HealthCheckMetrics): HttpAnswer {
  const excluded = new Set(query.getAll('exclude'));
  const isSkipped = excluded.delete('ping');
  if (!isSkipped) slis.succeeded('ping', 'healthz');
  if (!query.has('verbose')) return textAnswer(200, 'ok');
  const unknown = [...excluded].sort().map(name => JSON.stringify(name));
  const lines = [
    isSkipped ? '[+]ping excluded: ok' : '[+]ping ok',
    ...(unknown.length > 0 ? [`warn: some health checks cannot be excluded: no matches for ${unknown.join(',')}`] : []),
    'healthz check passed',
  ];
  return textAnswer(200, lines.map(line => `${line}\n`).join(''));
}

/** The results of this server's checks, as the metrics of service-level indicators (`/metrics/slis`). */
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
