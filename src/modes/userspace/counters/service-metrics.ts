import type { MetricSet, Sample } from '../../../observe/metrics/index.ts';
import type { ServiceCounters } from './service-counters.ts';
import { type Counted, ServiceTotals, type ShownService } from './service-totals.ts';

/** Limits the time series: each service port has six of them, on every node. */
const MAX_NAMED = 100;

const PORT = ['service', 'port', 'protocol', 'ip_family'] as const;
const DIRECTED = [...PORT, 'direction'] as const;
const PREFIX = 'pointsman_userspace';

/** Shows what went through the proxies. */
export function registerServiceMetrics(set: MetricSet, read: () => readonly ServiceCounters[]): void {
  const totals = new ServiceTotals(MAX_NAMED);
  const rest = `those of all but ${MAX_NAMED} service ports are summed up as other.`;
  const each = async <Name extends string>(samples: (shown: ShownService) => readonly Sample<Name>[]) => {
    totals.take(read());
    return [...totals.shown.values()].flatMap(samples);
  };
  const counter = (name: string, subject: string, kind: Counted) =>
    set.readCounters(`${PREFIX}_${name}`, PORT, `${subject}; ${rest}`, () =>
      each(shown => [{ labels: labels(shown), value: shown.totals[kind].total }]),
    );
  counter('connections_total', 'Connections, or UDP clients, that reached an endpoint', 'connections');
  counter('dial_failures_total', 'Failed attempts to reach an endpoint', 'dialFailures');
  counter('failures_total', 'Connections, or datagrams, that reached no endpoint', 'failures');
  set.readGauges(`${PREFIX}_connections`, PORT, `Connections that are open now; ${rest}`, () =>
    each(shown => [{ labels: labels(shown), value: shown.active }]),
  );
  set.readCounters(`${PREFIX}_bytes_total`, DIRECTED, `Bytes to (in) and from (out) endpoints; ${rest}`, () =>
    each(shown => [
      { labels: { ...labels(shown), direction: 'in' }, value: shown.totals.bytesIn.total },
      { labels: { ...labels(shown), direction: 'out' }, value: shown.totals.bytesOut.total },
    ]),
  );
}

function labels({ family, service, port, protocol }: ShownService): Record<(typeof PORT)[number], string> {
  return { service: service ?? 'other', port, protocol, ip_family: family };
}
