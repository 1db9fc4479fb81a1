import { PROBLEM_REASONS } from '../../lib/problem.ts';
import { DOUBLING_SECONDS, LAG_SECONDS, OBJECT_COUNTS } from './buckets.ts';
import type { MetricSet } from './metric-set.ts';

const FAMILY = ['ip_family'] as const;

/** Metrics that upstream does not have. */
export function pointsmanMetrics(set: MetricSet) {
  return {
    ...programmingMetrics(set),
    ...kernelMetrics(set),
    ...inputMetrics(set),
    configurationRefused: set.gauge(
      'pointsman_configuration_refused',
      [],
      '1 while the changed configuration is not valid and the proxy keeps the one before.',
    ),
    configurationRefusals: set.counter(
      'pointsman_configuration_refusals_total',
      [],
      'Changes of the configuration that were not valid.',
    ),
    watchAge: set.gauge(
      'pointsman_watch_age_seconds',
      ['resource'],
      'Time since the last message on the watch of a resource.',
    ),
    eventLoopLag: set.histogram(
      'pointsman_event_loop_lag_seconds',
      [],
      LAG_SECONDS,
      'How late a timer fired, measured twice a second.',
    ),
  };
}

/** The usual error numbers. A counter of another one appears with its first event. */
const SET_ASIDE_REASONS = ['EEXIST', 'EINVAL', 'ENOENT', 'ENOMEM', 'ENOSPC', 'EOPNOTSUPP', 'EPERM', 'other'] as const;

function programmingMetrics(set: MetricSet) {
  return {
    syncFailures: set.counter('pointsman_sync_failures_total', FAMILY, 'Syncs that failed.'),
    servicePorts: set.gauge(
      'pointsman_service_ports',
      ['status', 'ip_family'],
      'Service ports by status: programmed or set_aside.',
    ),
    setAside: set.counter(
      'pointsman_service_ports_set_aside_total',
      ['reason', 'ip_family'],
      'Service ports that were set aside, by the error number of the kernel.',
      { reason: SET_ASIDE_REASONS },
    ),
    driftRepairs: set.counter(
      'pointsman_drift_repairs_total',
      FAMILY,
      'Repairs of rules that another program changed.',
    ),
    endpointEjections: set.counter(
      'pointsman_endpoint_ejections_total',
      FAMILY,
      'How often an endpoint was left out because new connections to it failed, and the Service asks for it.',
    ),
    connectionEventsLost: set.counter(
      'pointsman_connection_event_losses_total',
      [],
      'How often the kernel dropped events about connections, because the proxy did not read them fast enough.',
    ),
    endedConnections: set.counter(
      'pointsman_ended_connections_total',
      FAMILY,
      'TCP connections of endpoints that are gone, which the proxy ended because the Service asks for it.',
    ),
  };
}

/** The kinds that the proxy reads. `other` is input whose kind is not known, such as a file that cannot be parsed. */
const KINDS = ['Service', 'EndpointSlice', 'Node', 'ServiceCIDR', 'other'] as const;

function inputMetrics(set: MetricSet) {
  return {
    inputProblems: set.counter(
      'pointsman_input_problems_total',
      ['kind', 'reason'],
      'Problems of objects and manifests that cannot be used, as a whole or in part.',
      { kind: KINDS, reason: PROBLEM_REASONS },
    ),
  };
}

function kernelMetrics(set: MetricSet) {
  return {
    batchObjects: set.histogram(
      'pointsman_kernel_batch_objects',
      FAMILY,
      OBJECT_COUNTS,
      'Objects written in one exchange with the kernel, or one run of a program that speaks to it.',
    ),
    batchDuration: set.histogram(
      'pointsman_kernel_batch_duration_seconds',
      FAMILY,
      DOUBLING_SECONDS,
      'Time that the kernel, or the program that speaks to it, took for one batch.',
    ),
    refused: set.counter('pointsman_kernel_refusals_total', FAMILY, 'Batches that the kernel refused.'),
  };
}
