import type { Clock } from '../../lib/clock.ts';
import type { FrontendConnections } from '../../modes/index.ts';
import { BoundedReading } from './bounded-reading.ts';
import { ConnectionTotals } from './connection-totals.ts';
import type { MetricSet, Sample } from './metric-set.ts';

export type ReadConnections = () => AsyncIterable<FrontendConnections>;

/** Service ports that are named: every one is a time series, on every node. */
const MOST_NAMED = 100;
/** A reading breaks off when something is written meanwhile. */
const ATTEMPTS = 3;

const LABELS = ['service', 'port', 'ip_family'] as const;

/** Shows what the kernel counted by service port. If it cannot be read, what was read before is shown. */
export function serviceConnections(set: MetricSet, clock: Clock, read: ReadConnections): void {
  const totals = new ConnectionTotals(MOST_NAMED);
  const reading = new BoundedReading(clock, () => takeAll(totals, read));
  set.readCounters(
    'pointsman_service_connections_total',
    LABELS,
    `New connections to a service port; those of all but ${MOST_NAMED} service ports are summed up as other.`,
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
      // Tried again, at the latest when somebody asks next.
    }
  }
}

function* samples(totals: ConnectionTotals): Generator<Sample<(typeof LABELS)[number]>> {
  for (const { family, servicePort = 'other', connections } of totals.totals()) {
    const [service = '', port = ''] = servicePort.split(':');
    yield { labels: { service, port, ip_family: family }, value: connections };
  }
}
