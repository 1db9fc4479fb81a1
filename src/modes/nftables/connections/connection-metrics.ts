import type { Clock } from '../../../lib/clock.ts';
import { BoundedReading, type MetricSet, type Sample } from '../../../observe/metrics/index.ts';
import type { ReadConnections } from '../../frontend-connections.ts';
import { ConnectionTotals } from './connection-totals.ts';

/** Limits the time series: each node has this many for each family. */
const MAX_NAMED = 100;
/** The kernel breaks a reading off when any program changes the ruleset. */
const ATTEMPTS = 3;

const LABELS = ['service', 'port', 'ip_family'] as const;

/** Registers the kernel's counters of service ports as metrics. If a reading fails, they show the last one again. */
export function registerConnections(set: MetricSet, clock: Clock, read: ReadConnections): void {
  const totals = new ConnectionTotals(MAX_NAMED);
  const reading = new BoundedReading(clock, () => takeAll(totals, read));
  set.readCounters(
    'pointsman_service_connections_total',
    LABELS,
    `New connections to a service port; those of all but ${MAX_NAMED} service ports are summed up as other.`,
    async () => {
      await reading.refresh();
      return samples(totals);
    },
  );
}

async function takeAll(totals: ConnectionTotals, read: ReadConnections): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      await totals.take(read());
      return;
    } catch {
      // The next scrape reads again.
    }
  }
}

function* samples(totals: ConnectionTotals): Generator<Sample<(typeof LABELS)[number]>> {
  for (const { family, service, port, connections } of totals.totals()) {
    yield { labels: { service: service ?? 'other', port, ip_family: family }, value: connections };
  }
}
