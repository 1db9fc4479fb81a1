import type { MetricSet, Sample } from '../../../observe/metrics/metric-set.ts';
import type { ServiceCounters } from '../../index.ts';
import { type Counted, ServiceTotals, type ShownService } from './service-totals.ts';

/** Service ports that are named: every one is some time series, on every node. */
const MOST_NAMED = 100;

const PORT = ['service', 'port', 'protocol', 'ip_family'] as const;
const DIRECTED = [...PORT, 'direction'] as const;
const PREFIX = 'pointsman_userspace';

/** Shows what went through the proxies of userspace mode. */
export function userspaceServices(set: MetricSet, read: () => readonly ServiceCounters[]): void {
  const totals = new ServiceTotals(MOST_NAMED);
  const rest = `those of all but ${MOST_NAMED} service ports are summed up as other.`;
  const each = async <Name extends string>(samples: (shown: ShownService) => readonly Sample<Name>[]) => {
    totals.take(read());
    return [...totals.shown.values()].flatMap(samples);
  };
  const counter = (name: string, what: string, kind: Counted) =>
    set.readCounters(`${PREFIX}_${name}`, PORT, `${what}; ${rest}`, () =>
      each(shown => [{ labels: labels(shown), value: shown.totals[kind].total }]),
    );
  counter('connections_total', 'Connections, or clients of UDP, that reached an endpoint', 'connections');
  counter('dial_failures_total', 'Attempts at endpoints that did not succeed', 'dialFailures');
  counter('failures_total', 'Connections, or datagrams, that nobody got', 'failures');
  set.readGauges(`${PREFIX}_connections`, PORT, `Connections that are there now; ${rest}`, () =>
    each(shown => [{ labels: labels(shown), value: shown.active }]),
  );
  set.readCounters(`${PREFIX}_bytes_total`, DIRECTED, `Bytes to (in) and from (out) endpoints; ${rest}`, () =>
    each(shown => [
      { labels: { ...labels(shown), direction: 'in' }, value: shown.totals.bytesIn.total },
      { labels: { ...labels(shown), direction: 'out' }, value: shown.totals.bytesOut.total },
    ]),
  );
}

function labels({ family, servicePort = 'other', protocol }: ShownService): Record<(typeof PORT)[number], string> {
  const [service = '', port = ''] = servicePort.split(':');
  return { service, port, protocol, ip_family: family };
}
