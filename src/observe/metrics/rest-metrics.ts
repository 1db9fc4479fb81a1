import type { RequestObservation } from '../../client/index.ts';
import { REQUEST_BYTES, REQUEST_SECONDS } from './buckets.ts';
import type { MetricSet } from './metric-set.ts';

export type RestMetrics = ReturnType<typeof restMetrics>;

/** The metrics of requests to the API server, which every client of Kubernetes has. */
export function restMetrics(set: MetricSet) {
  const distribution = (name: string, buckets: readonly number[], subject: string, by = 'verb and host') =>
    set.histogram(`rest_client_${name}`, ['host', 'verb'], buckets, `[ALPHA] ${subject}. Broken down by ${by}.`);
  return {
    requests: set.counter(
      'rest_client_requests_total',
      ['code', 'host', 'method'],
      '[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.',
    ),
    retries: set.counter(
      'rest_client_request_retries_total',
      ['code', 'host', 'verb'],
      '[ALPHA] Number of request retries, partitioned by status code, verb, and host.',
    ),
    duration: distribution('request_duration_seconds', REQUEST_SECONDS, 'Request latency in seconds', 'verb, and host'),
    rateLimited: distribution(
      'rate_limiter_duration_seconds',
      REQUEST_SECONDS,
      'Client side rate limiter latency in seconds',
      'verb, and host',
    ),
    requestSize: distribution('request_size_bytes', REQUEST_BYTES, 'Request size in bytes'),
    responseSize: distribution('response_size_bytes', REQUEST_BYTES, 'Response size in bytes'),
  };
}

export function observeRest(metrics: RestMetrics, observation: RequestObservation): void {
  const { verb, host } = observation;
  switch (observation.kind) {
    case 'attempt': {
      const { code } = observation;
      metrics.requests.inc({ code, host, method: verb });
      if (observation.retry) metrics.retries.inc({ code, host, verb });
      return;
    }
    case 'rate-limited':
      metrics.rateLimited.observe({ host, verb }, observation.milliseconds / 1000);
      return;
    case 'request':
      metrics.duration.observe({ host, verb }, observation.milliseconds / 1000);
      metrics.requestSize.observe({ host, verb }, observation.requestBytes);
      metrics.responseSize.observe({ host, verb }, observation.responseBytes);
      return;
  }
}
