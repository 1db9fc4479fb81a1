import { setImmediate as nextTurn } from 'node:timers/promises';
import { type IpvsSocket, printKey, type ServiceEntry, type Stats } from '../../../kernel/ipvs/index.ts';
import { type Family, joinHostPort } from '../../../net/index.ts';
import type { ServicePortPlan } from '../../../plan/index.ts';
import { plusFigures, type ServicePortTraffic, type TrafficFigures } from '../../traffic/index.ts';
import type { WantedObjects } from '../wanted/wanted-objects.ts';

type Socket = Pick<IpvsSocket, 'streamServices' | 'destinations'>;
type Families = ReadonlyMap<Family, { readonly wanted: Pick<WantedObjects, 'planOf'> }>;

/** The traffic of each virtual server. A service port may have several of them. */
export async function* readTraffic(socket: Socket, families: Families): AsyncGenerator<ServicePortTraffic> {
  const busy: (readonly [Family, ServicePortPlan, ServiceEntry])[] = [];
  for await (const entry of socket.streamServices()) {
    for (const [family, { wanted }] of families) {
      const plan = wanted.planOf(printKey(entry.key));
      if (!plan) continue;
      if ((entry.stats?.connections ?? 0n) > 0n) busy.push([family, plan, entry]);
      else yield { family, service: plan.service, port: plan.port.name, ...figuresOf(entry.stats), active: 0 };
    }
  }
  for (const [family, { service, port }, { key, stats }] of busy) {
    const endpoints = endpointsOf(socket, key);
    let active = 0;
    for (const figures of endpoints.values()) active += figures.active ?? 0;
    yield { family, service, port: port.name, ...figuresOf(stats), active, endpoints };
    await nextTurn();
  }
}

function endpointsOf(socket: Socket, key: ServiceEntry['key']): ReadonlyMap<string, TrafficFigures> {
  const endpoints = new Map<string, TrafficFigures>();
  for (const { address, port, activeConnections, stats } of socket.destinations(key)) {
    const text = joinHostPort(address, port);
    const figures = { ...figuresOf(stats), active: activeConnections };
    endpoints.set(text, plusFigures(endpoints.get(text), figures));
  }
  return endpoints;
}

function figuresOf(stats: Stats | undefined): TrafficFigures {
  if (!stats) return {};
  return {
    connections: Number(stats.connections),
    packets: Number(stats.inPackets + stats.outPackets),
    bytes: Number(stats.inBytes + stats.outBytes),
  };
}
