import { type HttpAnswer, type HttpRequest, textAnswer } from '../http/index.ts';
import type { HealthCheckMetrics } from './slis.ts';

/** This server's own `/healthz`: that it answers at all. Whether the proxy is healthy is asked at healthzBindAddress. */
export function pingAnswer({ query }: HttpRequest, slis: HealthCheckMetrics): HttpAnswer {
  const excluded = new Set(query.getAll('exclude'));
  const skipped = excluded.delete('ping');
  if (!skipped) slis.succeeded('ping', 'healthz');
  if (!query.has('verbose')) return textAnswer(200, 'ok');
  const unknown = [...excluded].sort().map(name => JSON.stringify(name));
  const lines = [
    skipped ? '[+]ping excluded: ok' : '[+]ping ok',
    ...(unknown.length > 0 ? [`warn: some health checks cannot be excluded: no matches for ${unknown.join(',')}`] : []),
    'healthz check passed',
  ];
  return textAnswer(200, lines.map(line => `${line}\n`).join(''));
}
