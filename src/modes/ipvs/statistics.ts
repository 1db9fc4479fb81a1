import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type DestinationEntry,
  type IpvsSocket,
  printKey,
  type ServiceEntry,
  type Stats,
} from '../../kernel/ipvs/index.ts';
import { type Family, joinHostPort } from '../../net/index.ts';
import { planName } from '../../plan/index.ts';
import type { FamilyServices } from './family-services.ts';

/** What was carried since the virtual or real server was made. */
export interface Traffic {
  readonly connections: bigint;
  readonly inPackets: bigint;
  readonly outPackets: bigint;
  readonly inBytes: bigint;
  readonly outBytes: bigint;
}

export interface RealServerStatistics extends Traffic {
  /** `10.244.1.2:8080` */
  readonly address: string;
  readonly weight: number;
  readonly activeConnections: number;
  readonly inactiveConnections: number;
}

/** One service port, all its addresses together. */
export interface ServicePortStatistics extends Traffic {
  readonly family: Family;
  /** `ns/name:port` */
  readonly servicePort: string;
  readonly protocol: string;
  readonly realServers: readonly RealServerStatistics[];
}

export interface Statistics {
  /** The busiest by connections, at most as many as asked for. */
  readonly servicePorts: readonly ServicePortStatistics[];
  /** All others together. */
  readonly others: Traffic & { readonly servicePorts: number };
  readonly virtualServers: number;
}

const LIMIT = 100;
const NONE: Traffic = { connections: 0n, inPackets: 0n, outPackets: 0n, inBytes: 0n, outBytes: 0n };

interface Group {
  readonly family: Family;
  readonly servicePort: string;
  readonly protocol: string;
  readonly services: ServiceEntry[];
  traffic: Traffic;
}

type Socket = Pick<IpvsSocket, 'services' | 'destinations'>;

/** Reads the counters of our virtual servers; of real servers only those of the busiest service ports. */
export async function readStatistics(
  socket: Socket,
  families: ReadonlyMap<Family, Pick<FamilyServices, 'wanted'>>,
  limit = LIMIT,
): Promise<Statistics> {
  const groups = group(socket.services(), families);
  const sorted = [...groups.values()].sort((a, b) => compare(b.traffic.connections, a.traffic.connections));
  const servicePorts: ServicePortStatistics[] = [];
  for (const { family, servicePort, protocol, services, traffic } of sorted.slice(0, limit)) {
    servicePorts.push({ family, servicePort, protocol, ...traffic, realServers: realServers(socket, services) });
    await nextTurn();
  }
  const others = sorted.slice(limit);
  const traffic = others.reduce((sum, other) => plus(sum, other.traffic), NONE);
  const virtualServers = sorted.reduce((sum, { services }) => sum + services.length, 0);
  return { servicePorts, others: { servicePorts: others.length, ...traffic }, virtualServers };
}

function group(
  services: readonly ServiceEntry[],
  families: ReadonlyMap<Family, Pick<FamilyServices, 'wanted'>>,
): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  for (const service of services) {
    for (const [family, { wanted }] of families) {
      const plan = wanted.claim(printKey(service.key))?.plan;
      if (!plan) continue;
      const { protocol } = plan.port;
      const servicePort = planName(plan);
      const id = `${family} ${servicePort} ${protocol}`;
      const known = groups.get(id) ?? { family, servicePort, protocol, services: [], traffic: NONE };
      known.services.push(service);
      known.traffic = plus(known.traffic, service.stats);
      groups.set(id, known);
    }
  }
  return groups;
}

function realServers(socket: Socket, services: readonly ServiceEntry[]): readonly RealServerStatistics[] {
  const found = new Map<string, RealServerStatistics>();
  for (const entry of services.flatMap(({ key }) => socket.destinations(key))) {
    const address = joinHostPort(entry.address, entry.port);
    found.set(address, addRealServer(found.get(address), address, entry));
  }
  return [...found.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
}

function addRealServer(
  known: RealServerStatistics | undefined,
  address: string,
  { weight, activeConnections, inactiveConnections, stats }: DestinationEntry,
): RealServerStatistics {
  return {
    address,
    weight: Math.max(weight, known?.weight ?? 0),
    activeConnections: activeConnections + (known?.activeConnections ?? 0),
    inactiveConnections: inactiveConnections + (known?.inactiveConnections ?? 0),
    ...plus(known ?? NONE, stats),
  };
}

function plus(a: Traffic, b: Traffic | Stats | undefined): Traffic {
  if (!b) return a;
  return {
    connections: a.connections + b.connections,
    inPackets: a.inPackets + b.inPackets,
    outPackets: a.outPackets + b.outPackets,
    inBytes: a.inBytes + b.inBytes,
    outBytes: a.outBytes + b.outBytes,
  };
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
