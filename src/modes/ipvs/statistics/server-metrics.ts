import type { Clock } from '../../../lib/clock.ts';
import { BoundedReading, type MetricSet, type Sample } from '../../../observe/metrics/index.ts';
import type { ServerStatistics, StatisticsOptions } from './server-statistics.ts';
import { type RealServerTotals, ServerTotals, type ServicePortTotals, type TrafficKind } from './server-totals.ts';

export type ReadStatistics = (options: StatisticsOptions) => Promise<ServerStatistics | undefined>;

/** Limits the time series: each node has several for each named service port and real server. */
const MAX_NAMED = 100;

const PORT = ['service', 'port', 'protocol', 'ip_family'] as const;
const DIRECTED = [...PORT, 'direction'] as const;
const REAL_SERVER = [...PORT, 'real_server'] as const;
const STATES = [...REAL_SERVER, 'state'] as const;

type Labels<Names extends readonly string[]> = Record<Names[number], string>;

/** Shows what virtual and real servers carried. If a reading fails, shows the last one again. */
export function registerServers(set: MetricSet, clock: Clock, read: ReadStatistics): void {
  const totals = new ServerTotals(MAX_NAMED);
  const reading = new BoundedReading(clock, async () => {
    try {
      const statistics = await read({ limit: MAX_NAMED, keep: totals.named });
      if (statistics) totals.take(statistics);
    } catch {
      // The next scrape reads again.
    }
  });
  registerVirtualServers(set, totals, () => reading.refresh());
  registerRealServers(set, totals, () => reading.refresh());
}

function registerVirtualServers(set: MetricSet, totals: ServerTotals, refresh: () => Promise<void>): void {
  const rest = `those of all but ${MAX_NAMED} service ports are summed up as other.`;
  set.readGauges('pointsman_ipvs_virtual_servers', [], 'Virtual servers of Services.', async () => {
    await refresh();
    return [{ labels: {}, value: totals.virtualServers }];
  });
  set.readCounters('pointsman_ipvs_connections_total', PORT, `New connections to a service port; ${rest}`, async () => {
    await refresh();
    return eachPort(totals, port => [{ labels: portLabels(port), value: port.traffic.connections.total }]);
  });
  const directed = (name: string, unit: string, inward: TrafficKind, outward: TrafficKind) =>
    set.readCounters(name, DIRECTED, `${unit} to (in) and from (out) a service port; ${rest}`, async () => {
      await refresh();
      return eachPort(totals, port => [
        { labels: { ...portLabels(port), direction: 'in' }, value: port.traffic[inward].total },
        { labels: { ...portLabels(port), direction: 'out' }, value: port.traffic[outward].total },
      ]);
    });
  directed('pointsman_ipvs_packets_total', 'Packets', 'inPackets', 'outPackets');
  directed('pointsman_ipvs_bytes_total', 'Bytes', 'inBytes', 'outBytes');
}

function registerRealServers(set: MetricSet, totals: ServerTotals, refresh: () => Promise<void>): void {
  const limit = `at most ${MAX_NAMED} real servers, of service ports that are named.`;
  const name = 'pointsman_ipvs_real_server';
  set.readCounters(`${name}_connections_total`, REAL_SERVER, `New connections to a real server; ${limit}`, async () => {
    await refresh();
    return eachServer(totals, totals => [{ labels: serverLabels(totals), value: totals.connections.total }]);
  });
  set.readGauges(`${name}_connections`, STATES, `Connections that a real server has; ${limit}`, async () => {
    await refresh();
    return eachServer(totals, totals => [
      { labels: { ...serverLabels(totals), state: 'active' }, value: totals.server.activeConnections },
      { labels: { ...serverLabels(totals), state: 'inactive' }, value: totals.server.inactiveConnections },
    ]);
  });
  const weight = `Weight of a real server, 0 while it waits for its last connection to end; ${limit}`;
  set.readGauges(`${name}_weight`, REAL_SERVER, weight, async () => {
    await refresh();
    return eachServer(totals, totals => [{ labels: serverLabels(totals), value: totals.server.weight }]);
  });
}

function eachPort<Name extends string>(
  { servicePorts }: ServerTotals,
  samples: (port: ServicePortTotals) => readonly Sample<Name>[],
): readonly Sample<Name>[] {
  return [...servicePorts.values()].flatMap(samples);
}

function eachServer<Name extends string>(
  { realServers }: ServerTotals,
  samples: (totals: RealServerTotals) => readonly Sample<Name>[],
): readonly Sample<Name>[] {
  return [...realServers.values()].flatMap(samples);
}

function portLabels({
  family,
  service = 'other',
  port,
  protocol,
}: Omit<ServicePortTotals, 'id' | 'traffic'>): Labels<typeof PORT> {
  return { service, port, protocol, ip_family: family };
}

function serverLabels({ servicePort, server }: RealServerTotals): Labels<typeof REAL_SERVER> {
  return { ...portLabels(servicePort), real_server: server.address };
}
