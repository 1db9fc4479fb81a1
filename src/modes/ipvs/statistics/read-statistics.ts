import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type DestinationEntry,
  type IpvsSocket,
  printKey,
  type ServiceEntry,
  type Stats,
} from '../../../kernel/ipvs/index.ts';
import { compareTexts } from '../../../lib/compare-texts.ts';
import { type Family, joinHostPort } from '../../../net/index.ts';
import { planId } from '../../../plan/index.ts';
import type { WantedObjects } from '../wanted/wanted-objects.ts';
import type {
  OtherStatistics,
  RealServerStatistics,
  ServerStatistics,
  ServicePortStatistics,
  StatisticsOptions,
  TrafficCounts,
} from './server-statistics.ts';

const DEFAULT_LIMIT = 100;
const KEEP_NONE: ReadonlySet<string> = new Set();
const NO_TRAFFIC: TrafficCounts = { connections: 0n, inPackets: 0n, outPackets: 0n, inBytes: 0n, outBytes: 0n };

/** The virtual servers of one service port. */
interface ServicePortServers extends Omit<ServicePortStatistics, keyof TrafficCounts | 'realServers'> {
  readonly services: ServiceEntry[];
  traffic: TrafficCounts;
}

type Socket = Pick<IpvsSocket, 'streamServices' | 'destinations'>;
type Families = ReadonlyMap<Family, { readonly wanted: WantedObjects }>;

/** Reads the counters of the mode's virtual servers. Reads real servers only for service ports that have statistics. */
export async function readStatistics(
  socket: Socket,
  families: Families,
  { limit = DEFAULT_LIMIT, keep = KEEP_NONE }: StatisticsOptions = {},
): Promise<ServerStatistics> {
  const ports = await readServicePorts(socket, families);
  const chosen = choose(ports, limit, keep);
  const servicePorts: ServicePortStatistics[] = [];
  for (const { services, traffic, ...names } of chosen) {
    servicePorts.push({ ...names, ...traffic, realServers: readRealServers(socket, services) });
    await nextTurn();
  }
  const ids = new Set(chosen.map(({ id }) => id));
  const rest = ports.filter(({ id }) => !ids.has(id));
  const others = [...families.keys()].map(family => sumOf(family, rest));
  return { servicePorts, others, virtualServers: ports.reduce((sum, { services }) => sum + services.length, 0) };
}

/** The connections of each Service that got some. */
export async function readConnectionCounts(
  socket: Pick<Socket, 'streamServices'>,
  families: Families,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for await (const { key, stats } of socket.streamServices()) {
    const connections = Number(stats?.connections ?? 0n);
    if (connections === 0) continue;
    for (const { wanted } of families.values()) {
      const service = wanted.planOf(printKey(key))?.service;
      if (service !== undefined) counts.set(service, (counts.get(service) ?? 0) + connections);
    }
  }
  return counts;
}

async function readServicePorts(socket: Socket, families: Families): Promise<readonly ServicePortServers[]> {
  const ports = new Map<string, ServicePortServers>();
  for await (const entry of socket.streamServices()) {
    for (const [family, { wanted }] of families) {
      const plan = wanted.planOf(printKey(entry.key));
      if (!plan) continue;
      const id = `${family} ${planId(plan)}`;
      const { service, port } = plan;
      const names = { id, family, service, port: port.name, protocol: port.protocol };
      const known = ports.get(id) ?? { ...names, services: [], traffic: NO_TRAFFIC };
      known.services.push(entry);
      known.traffic = plus(known.traffic, entry.stats);
      ports.set(id, known);
    }
  }
  return [...ports.values()];
}

function choose(
  ports: readonly ServicePortServers[],
  limit: number,
  keep: ReadonlySet<string>,
): readonly ServicePortServers[] {
  const candidates = ports.filter(({ id, traffic }) => keep.has(id) || traffic.connections > 0n);
  const rank = ({ id }: ServicePortServers) => (keep.has(id) ? 0 : 1);
  return candidates
    .sort((a, b) => rank(a) - rank(b) || compare(b.traffic.connections, a.traffic.connections))
    .slice(0, limit);
}

function sumOf(family: Family, ports: readonly ServicePortServers[]): OtherStatistics {
  const own = ports.filter(port => port.family === family);
  return { family, servicePorts: own.length, ...own.reduce((sum, { traffic }) => plus(sum, traffic), NO_TRAFFIC) };
}

function readRealServers(socket: Socket, services: readonly ServiceEntry[]): readonly RealServerStatistics[] {
  const found = new Map<string, RealServerStatistics>();
  for (const entry of services.flatMap(({ key }) => socket.destinations(key))) {
    const address = joinHostPort(entry.address, entry.port);
    found.set(address, addRealServer(found.get(address), address, entry));
  }
  return [...found.values()].sort((a, b) => compareTexts(a.address, b.address));
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
    ...plus(known ?? NO_TRAFFIC, stats),
  };
}

function plus(a: TrafficCounts, b: TrafficCounts | Stats | undefined): TrafficCounts {
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
