import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type DestinationEntry,
  type IpvsSocket,
  printKey,
  type ServiceEntry,
  type Stats,
} from '../../../kernel/ipvs/index.ts';
import { type Family, joinHostPort } from '../../../net/index.ts';
import { planName } from '../../../plan/index.ts';
import type { FamilyServices } from '../family-services.ts';
import type {
  OtherStatistics,
  RealServerStatistics,
  ServerStatistics,
  ServicePortStatistics,
  StatisticsOptions,
  Traffic,
} from './server-statistics.ts';

const LIMIT = 100;
const NOBODY: ReadonlySet<string> = new Set();
const NONE: Traffic = { connections: 0n, inPackets: 0n, outPackets: 0n, inBytes: 0n, outBytes: 0n };

interface Group {
  readonly id: string;
  readonly family: Family;
  readonly servicePort: string;
  readonly protocol: string;
  readonly services: ServiceEntry[];
  traffic: Traffic;
}

type Socket = Pick<IpvsSocket, 'streamServices' | 'destinations'>;
type Families = ReadonlyMap<Family, Pick<FamilyServices, 'wanted'>>;

/** Reads the counters of our virtual servers; of real servers only those of service ports that are told one by one. */
export async function readStatistics(
  socket: Socket,
  families: Families,
  { limit = LIMIT, keep = NOBODY }: StatisticsOptions = {},
): Promise<ServerStatistics> {
  const groups = await group(socket, families);
  const told = choose(groups, limit, keep);
  const servicePorts: ServicePortStatistics[] = [];
  for (const { services, traffic, ...names } of told) {
    servicePorts.push({ ...names, ...traffic, realServers: realServers(socket, services) });
    await nextTurn();
  }
  const isTold = new Set(told.map(({ id }) => id));
  const rest = groups.filter(({ id }) => !isTold.has(id));
  const others = [...families.keys()].map(family => together(family, rest));
  return { servicePorts, others, virtualServers: groups.reduce((sum, { services }) => sum + services.length, 0) };
}

async function group(socket: Socket, families: Families): Promise<readonly Group[]> {
  const groups = new Map<string, Group>();
  for await (const service of socket.streamServices()) {
    for (const [family, { wanted }] of families) {
      const plan = wanted.claim(printKey(service.key))?.plan;
      if (!plan) continue;
      const { protocol } = plan.port;
      const servicePort = planName(plan);
      const id = `${family} ${servicePort} ${protocol}`;
      const known = groups.get(id) ?? { id, family, servicePort, protocol, services: [], traffic: NONE };
      known.services.push(service);
      known.traffic = plus(known.traffic, service.stats);
      groups.set(id, known);
    }
  }
  return [...groups.values()];
}

function choose(groups: readonly Group[], limit: number, keep: ReadonlySet<string>): readonly Group[] {
  const candidates = groups.filter(({ id, traffic }) => keep.has(id) || traffic.connections > 0n);
  const rank = ({ id }: Group) => (keep.has(id) ? 0 : 1);
  const byRight = (a: Group, b: Group) => rank(a) - rank(b) || compare(b.traffic.connections, a.traffic.connections);
  return candidates.sort(byRight).slice(0, limit);
}

function together(family: Family, groups: readonly Group[]): OtherStatistics {
  const own = groups.filter(other => other.family === family);
  return { family, servicePorts: own.length, ...own.reduce((sum, { traffic }) => plus(sum, traffic), NONE) };
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
