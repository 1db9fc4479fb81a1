import type { Clock } from '../../../lib/clock.ts';
import { BoundedReading } from '../../../observe/metrics/bounded-reading.ts';
import type { MetricSet, Sample } from '../../../observe/metrics/metric-set.ts';
import type { ServerStatistics, StatisticsOptions } from '../../index.ts';
import { ServerTotals, type ShownRealServer, type ShownServicePort, type TrafficKind } from './server-totals.ts';

export type ReadStatistics = (options: StatisticsOptions) => Promise<ServerStatistics | undefined>;

/** Service ports, and their real servers, that are named: every one is some time series, on every node. */
const MOST_NAMED = 100;

const PORT = ['service', 'port', 'protocol', 'ip_family'] as const;
const DIRECTED = [...PORT, 'direction'] as const;
const REAL_SERVER = [...PORT, 'real_server'] as const;
const STATES = [...REAL_SERVER, 'state'] as const;

type Labels<Names extends readonly string[]> = Record<Names[number], string>;

/** Shows what virtual and real servers of ipvs carried. If it cannot be read, what was read before is shown. */
export function ipvsServers(set: MetricSet, clock: Clock, read: ReadStatistics): void {
  const totals = new ServerTotals(MOST_NAMED);
  const reading = new BoundedReading(clock, async () => {
    try {
      const statistics = await read({ limit: MOST_NAMED, keep: totals.named });
      if (statistics) totals.take(statistics);
    } catch {
      // Tried again when somebody asks next.
    }
  });
  virtualServerMetrics(set, totals, () => reading.refresh());
  realServerMetrics(set, totals, () => reading.refresh());
}

function virtualServerMetrics(set: MetricSet, totals: ServerTotals, refresh: () => Promise<void>): void {
  const rest = `those of all but ${MOST_NAMED} service ports are summed up as other.`;
  set.readGauges('pointsman_ipvs_virtual_servers', [], 'Virtual servers of Services.', async () => {
    await refresh();
    return [{ labels: {}, value: totals.virtualServers }];
  });
  set.readCounters('pointsman_ipvs_connections_total', PORT, `New connections to a service port; ${rest}`, async () => {
    await refresh();
    return eachPort(totals, port => [{ labels: portLabels(port), value: port.traffic.connections.total }]);
  });
  const directed = (name: string, what: string, inward: TrafficKind, outward: TrafficKind) =>
    set.readCounters(name, DIRECTED, `${what} to (in) and from (out) a service port; ${rest}`, async () => {
      await refresh();
      return eachPort(totals, port => [
        { labels: { ...portLabels(port), direction: 'in' }, value: port.traffic[inward].total },
        { labels: { ...portLabels(port), direction: 'out' }, value: port.traffic[outward].total },
      ]);
    });
  directed('pointsman_ipvs_packets_total', 'Packets', 'inPackets', 'outPackets');
  directed('pointsman_ipvs_bytes_total', 'Bytes', 'inBytes', 'outBytes');
}

function realServerMetrics(set: MetricSet, totals: ServerTotals, refresh: () => Promise<void>): void {
  const which = `at most ${MOST_NAMED} real servers, of service ports that are named.`;
  const name = 'pointsman_ipvs_real_server';
  set.readCounters(`${name}_connections_total`, REAL_SERVER, `New connections to a real server; ${which}`, async () => {
    await refresh();
    return eachServer(totals, shown => [{ labels: serverLabels(shown), value: shown.connections.total }]);
  });
  set.readGauges(`${name}_connections`, STATES, `Connections that a real server has; ${which}`, async () => {
    await refresh();
    return eachServer(totals, shown => [
      { labels: { ...serverLabels(shown), state: 'active' }, value: shown.server.activeConnections },
      { labels: { ...serverLabels(shown), state: 'inactive' }, value: shown.server.inactiveConnections },
    ]);
  });
  const weight = `Weight of a real server, 0 while it waits for its last connection to end; ${which}`;
  set.readGauges(`${name}_weight`, REAL_SERVER, weight, async () => {
    await refresh();
    return eachServer(totals, shown => [{ labels: serverLabels(shown), value: shown.server.weight }]);
  });
}

function eachPort<Name extends string>(
  { servicePorts }: ServerTotals,
  samples: (port: ShownServicePort) => readonly Sample<Name>[],
): readonly Sample<Name>[] {
  return [...servicePorts.values()].flatMap(samples);
}

function eachServer<Name extends string>(
  { realServers }: ServerTotals,
  samples: (shown: ShownRealServer) => readonly Sample<Name>[],
): readonly Sample<Name>[] {
  return [...realServers.values()].flatMap(samples);
}

function portLabels({
  family,
  servicePort = 'other',
  protocol,
}: Pick<ShownServicePort, 'family' | 'servicePort' | 'protocol'>): Labels<typeof PORT> {
  const [service = '', port = ''] = servicePort.split(':');
  return { service, port, protocol, ip_family: family };
}

function serverLabels({ of, server }: ShownRealServer): Labels<typeof REAL_SERVER> {
  return { ...portLabels(of), real_server: server.address };
}
