import type { Clock } from '../lib/clock.ts';
import type { FrontendConnections } from '../modes/index.ts';
import { ConnectionTotals } from './connection-totals.ts';
import type { MetricSet, Sample } from './metric-set.ts';

export type ReadConnections = () => AsyncIterable<FrontendConnections>;

/** Service ports that are named: every one is a time series, on every node. */
const MOST_NAMED = 100;
/** Who asks more often gets the same again. */
const FRESH_MS = 5000;
/** With many Services reading takes long (half a second for 44,000), so a twentieth of the time is the most. */
const PAUSE_PER_READING = 20;
/** A reading breaks off when something is written meanwhile. */
const ATTEMPTS = 3;

const LABELS = ['service', 'port', 'ip_family'] as const;

/** Shows what the kernel counted by service port. If it cannot be read, what was read before is shown. */
export function serviceConnections(set: MetricSet, clock: Clock, read: ReadConnections): void {
  const totals = new ConnectionTotals(MOST_NAMED);
  let readAt = Number.NEGATIVE_INFINITY;
  let pause = FRESH_MS;
  let reading: Promise<void> | undefined;
  const refresh = async () => {
    const start = clock.now();
    await takeAll(totals, read);
    readAt = clock.now();
    pause = Math.max(FRESH_MS, PAUSE_PER_READING * (readAt - start));
    reading = undefined;
  };
  // The clock may be set back.
  const isFresh = () => Math.abs(clock.now() - readAt) < pause;
  set.readCounters(
    'pointsman_service_connections_total',
    LABELS,
    `New connections to a service port; those of all but ${MOST_NAMED} service ports are summed up as other.`,
    async () => {
      if (!isFresh()) reading ??= refresh();
      await reading;
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
