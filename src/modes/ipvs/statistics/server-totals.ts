import type { Family } from '../../../net/index.ts';
import { advanced, type Total } from '../../../observe/metrics/index.ts';
import type {
  RealServerStatistics,
  ServerStatistics,
  ServicePortStatistics,
  TrafficCounts,
} from './server-statistics.ts';

export type TrafficKind = keyof TrafficCounts;

/** One service port, or all others of a family together. */
export interface ServicePortTotals {
  readonly id: string;
  readonly family: Family;
  /** `namespace/name`. Undefined for all others. */
  readonly service: string | undefined;
  readonly port: string;
  readonly protocol: string;
  readonly traffic: Readonly<Record<TrafficKind, Total>>;
}

export interface RealServerTotals {
  readonly servicePort: ServicePortStatistics;
  readonly server: RealServerStatistics;
  readonly connections: Total;
}

/**
 * Statistics for counters, which must not decrease. A service port that has a name keeps it as long as it exists.
 * Otherwise its traffic would jump between it and the others.
 */
export class ServerTotals {
  readonly #maxRealServers: number;
  virtualServers = 0;
  servicePorts: ReadonlyMap<string, ServicePortTotals> = new Map();
  realServers: ReadonlyMap<string, RealServerTotals> = new Map();

  constructor(maxRealServers: number) {
    this.#maxRealServers = maxRealServers;
  }

  /** The ids of the service ports that have a name. */
  get named(): ReadonlySet<string> {
    return new Set([...this.servicePorts.values()].flatMap(({ id, service }) => (service === undefined ? [] : [id])));
  }

  take({ servicePorts, others, virtualServers }: ServerStatistics): void {
    this.virtualServers = virtualServers;
    const totals = [
      ...servicePorts.map(port => this.#advance(port, port)),
      ...others.map(other => {
        const { family } = other;
        return this.#advance({ id: `${family} other`, family, service: undefined, port: '', protocol: '' }, other);
      }),
    ];
    this.servicePorts = new Map(totals.map(port => [port.id, port]));
    this.realServers = this.#chooseRealServers(servicePorts);
  }

  #advance(
    { id, family, service, port, protocol }: Omit<ServicePortTotals, 'traffic'>,
    counts: TrafficCounts,
  ): ServicePortTotals {
    const before = this.servicePorts.get(id)?.traffic;
    const total = (kind: TrafficKind) => advanced(before?.[kind], Number(counts[kind]));
    return {
      id,
      family,
      service,
      port,
      protocol,
      traffic: {
        connections: total('connections'),
        inPackets: total('inPackets'),
        outPackets: total('outPackets'),
        inBytes: total('inBytes'),
        outBytes: total('outBytes'),
      },
    };
  }

  /** Real servers that have a name come before others, then the busiest. */
  #chooseRealServers(ports: readonly ServicePortStatistics[]): ReadonlyMap<string, RealServerTotals> {
    const all = ports.flatMap(servicePort =>
      servicePort.realServers.map(server => ({ id: `${servicePort.id} ${server.address}`, servicePort, server })),
    );
    const isNamed = (id: string) => this.realServers.has(id);
    const busy = all.filter(({ id, server }) => isNamed(id) || server.connections > 0n);
    const rank = (id: string) => (isNamed(id) ? 0 : 1);
    busy.sort((a, b) => rank(a.id) - rank(b.id) || Number(b.server.connections - a.server.connections));
    return new Map(
      busy.slice(0, this.#maxRealServers).map(({ id, servicePort, server }) => {
        const connections = advanced(this.realServers.get(id)?.connections, Number(server.connections));
        return [id, { servicePort, server, connections }];
      }),
    );
  }
}
