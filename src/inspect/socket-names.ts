import type { EndpointSlice } from '../api/index.ts';
import { objectName } from '../api/index.ts';
import {
  type EndpointPlace,
  endpointUses,
  type Facts,
  placesOf,
  podKey,
  slicesOf,
  socketOwners,
} from '../explain/index.ts';
import { Breaks } from '../lib/breaks.ts';
import type { NamePattern } from '../lib/name-pattern.ts';
import type { ConnectedSocket, SocketReading } from '../modes/index.ts';
import { familyOf, type Ip, joinHostPort, parseIp } from '../net/index.ts';
import type { SocketRow } from './socket-rows.ts';

/** The rows of the sockets that are connected to some Services, in parts of a few milliseconds of work. */
export async function* socketRows(
  facts: Facts,
  { sockets }: Pick<SocketReading, 'sockets'>,
  pattern: NamePattern | undefined,
): AsyncGenerator<readonly SocketRow[], void> {
  const breaks = new Breaks();
  const connectionOf = connectionNames(facts);
  const isWanted = (socket: ConnectedSocket) => !pattern || pattern.matches(connectionOf(socket).service ?? '');
  const pods = await callerPods(facts, sockets, isWanted, breaks);
  let rows: SocketRow[] = [];
  for (const socket of sockets) {
    if (breaks.isDue) {
      yield rows;
      rows = [];
      await breaks.take();
    }
    if (!isWanted(socket)) continue;
    const { caller, isOfNode, state } = socket;
    rows.push({
      ...connectionOf(socket),
      caller: caller && joinHostPort(caller.ip, caller.port),
      callerPod: caller && !isOfNode ? pods.get(caller.ip) : undefined,
      isOfNode,
      state,
    });
  }
  yield rows;
}

type Connection = Omit<SocketRow, 'caller' | 'callerPod' | 'isOfNode' | 'state'>;

/** Returns a function that names the Service and the endpoint of a socket. Many sockets share them. */
function connectionNames(facts: Facts): (socket: ConnectedSocket) => Connection {
  const ownerOf = socketOwners(facts);
  const useOf = endpointUses(facts);
  const podOf = endpointPods(facts);
  const known = new Map<string, Connection>();
  return socket => {
    const { service, endpoint } = socket;
    const id = `${service.ip} ${service.port} ${endpoint.ip} ${endpoint.port}`;
    const found = known.get(id);
    if (found) return found;
    const plan = ownerOf(socket)?.plan;
    const text = joinHostPort(endpoint.ip, endpoint.port);
    const made = {
      service: plan?.service,
      port: plan && (plan.port.name || String(plan.port.port)),
      address: joinHostPort(service.ip, service.port),
      endpoint: text,
      endpointPod: plan && podOf(plan.service, endpoint.ip),
      endpointUse: plan && useOf(plan, text),
    };
    known.set(id, made);
    return made;
  };
}

/** `ns/name` of pods by address. */
type Pods = ReadonlyMap<Ip, string>;

/**
 * The pods of the callers, as far as they are endpoints of any Service: a proxy does not watch pods. It looks at all
 * EndpointSlices, but only at endpoints of this node.
 */
async function callerPods(
  { objects, nodeName }: Facts,
  sockets: Iterable<ConnectedSocket>,
  isWanted: (socket: ConnectedSocket) => boolean,
  breaks: Breaks,
): Promise<Pods> {
  const callers = new Set<Ip>();
  for (const socket of sockets) {
    if (breaks.isDue) await breaks.take();
    if (socket.caller && !socket.isOfNode && isWanted(socket)) callers.add(socket.caller.ip);
  }
  const pods = new Map<Ip, string>();
  if (callers.size === 0) return pods;
  for (const slice of objects.slices()) {
    if (breaks.isDue) await breaks.take();
    for (const [ip, pod] of podsOnNode(slice, nodeName)) if (callers.has(ip)) pods.set(ip, pod);
  }
  return pods;
}

function* podsOnNode({ endpoints, metadata }: EndpointSlice, node: string): Iterable<readonly [Ip, string]> {
  for (const { addresses, targetRef, nodeName } of endpoints) {
    if (!targetRef || (nodeName !== undefined && nodeName !== node)) continue;
    const ip = parseIp(addresses[0] ?? '');
    const pod = podKey(targetRef, metadata.namespace);
    if (ip !== undefined && pod !== undefined) yield [ip, pod];
  }
}

/** By the EndpointSlices of the Service itself: pods in the network of the node share its address. */
function endpointPods(facts: Facts): (service: string, ip: Ip) => string | undefined {
  const known = new Map<string, ReadonlyMap<string, EndpointPlace>>();
  return (service, ip) => {
    const family = familyOf(ip);
    const id = `${service} ${family}`;
    const places = known.get(id) ?? placesOf(slicesOf(service, family, facts));
    known.set(id, places);
    const target = places.get(ip)?.targetRef;
    return target && podKey(target, objectName(service).namespace);
  };
}
