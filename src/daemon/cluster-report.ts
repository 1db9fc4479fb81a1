import type { Logger } from '../observe/logging/index.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';
import type { ClusterSourceOptions } from '../source/index.ts';
import type { WatchChecks } from './watch-checks.ts';

/** Tells how the API's resources are followed, and which of its objects cannot be used, as of manifests. */
export function clusterReport(
  log: Logger,
  metrics: Pick<ProxyMetrics, 'watchHeard'>,
  watchChecks: WatchChecks,
): ClusterSourceOptions['report'] {
  return {
    watchFailed({ where, message }) {
      watchChecks.problem(where, message);
      log.error('reflector', 'Failed to follow', { where, err: message });
    },
    watchStalled({ where, message }) {
      watchChecks.problem(where, message);
      log.warning('reflector', 'Waiting for objects', { where, reason: message });
    },
    watchRecovered(where) {
      watchChecks.recovered(where);
      log.info('reflector', 'Is followed again', { where });
    },
    objectUnusable: ({ where, object, field, message }) =>
      log.warning('proxy', 'Cannot be used', { where, object, field, reason: message }),
    objectRecovered: where => log.info('proxy', 'Is good again', { where }),
    dataReceived: path => metrics.watchHeard(path),
  };
}
