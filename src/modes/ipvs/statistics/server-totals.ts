import type { Family } from '../../../net/index.ts';
import { advanced, type Total } from '../../../observe/metrics/total.ts';
import type { RealServerStatistics, ServerStatistics, ServicePortStatistics, Traffic } from '../../index.ts';

export const TRAFFIC = ['connections', 'inPackets', 'outPackets', 'inBytes', 'outBytes'] as const;
export type TrafficKind = (typeof TRAFFIC)[number];

/** A service port that is shown one by one, or all others of a family. */
export interface ShownServicePort {
  readonly id: string;
  readonly family: Family;
  /** Undefined: all others. */
  readonly servicePort: string | undefined;
  readonly protocol: string;
  readonly traffic: Readonly<Record<TrafficKind, Total>>;
}

export interface ShownRealServer {
  readonly of: ServicePortStatistics;
  readonly server: RealServerStatistics;
  readonly connections: Total;
}

/**
 * Statistics as they are shown: counters never go back, and who was shown one by one stays so as long as it exists, for
 * otherwise what it carried would jump between it and the others.
 */
export class ServerTotals {
  readonly #mostRealServers: number;
  virtualServers = 0;
  servicePorts: ReadonlyMap<string, ShownServicePort> = new Map();
  realServers: ReadonlyMap<string, ShownRealServer> = new Map();

  constructor(mostRealServers: number) {
    this.#mostRealServers = mostRealServers;
  }

  /** Ids of the service ports that have to be told one by one again. */
  get named(): ReadonlySet<string> {
    return new Set([...this.servicePorts.values()].flatMap(({ id, servicePort }) => (servicePort ? [id] : [])));
  }

  take({ servicePorts, others, virtualServers }: ServerStatistics): void {
    this.virtualServers = virtualServers;
    const shown = [
      ...servicePorts.map(port => this.#advance(port, port)),
      ...others.map(other => {
        const names = { id: `${other.family} other`, family: other.family, servicePort: undefined, protocol: '' };
        return this.#advance(names, other);
      }),
    ];
    this.servicePorts = new Map(shown.map(port => [port.id, port]));
    this.realServers = this.#chooseRealServers(servicePorts);
  }

  #advance(
    { id, family, servicePort, protocol }: Omit<ShownServicePort, 'traffic'>,
    carried: Traffic,
  ): ShownServicePort {
    const before = this.servicePorts.get(id)?.traffic;
    const total = (kind: TrafficKind) => advanced(before?.[kind], Number(carried[kind]));
    return {
      id,
      family,
      servicePort,
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

  #chooseRealServers(ports: readonly ServicePortStatistics[]): ReadonlyMap<string, ShownRealServer> {
    const all = ports.flatMap(of => of.realServers.map(server => ({ id: `${of.id} ${server.address}`, of, server })));
    const isShown = (id: string) => this.realServers.has(id);
    const busy = all.filter(({ id, server }) => isShown(id) || server.connections > 0n);
    const rank = (id: string) => (isShown(id) ? 0 : 1);
    busy.sort((a, b) => rank(a.id) - rank(b.id) || Number(b.server.connections - a.server.connections));
    return new Map(
      busy.slice(0, this.#mostRealServers).map(({ id, of, server }) => {
        const connections = advanced(this.realServers.get(id)?.connections, Number(server.connections));
        return [id, { of, server, connections }];
      }),
    );
  }
}
