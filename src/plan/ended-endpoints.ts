import type { Change } from '../lib/change.ts';
import { NONE } from '../lib/none.ts';
import { type Endpoint, type ServicePort, type ServiceState, servicePortName } from '../model/index.ts';
import { joinHostPort } from '../net/index.ts';
import { endpointsOf } from './service-port-plan.ts';
import { addressesOf, type Flow } from './stale-flows.ts';

/** An endpoint that left a TCP service port whose connections the proxy shall end. */
export interface EndedEndpoint {
  /** `ns/name` */
  readonly service: string;
  readonly port: ServicePort;
  readonly endpoint: Endpoint;
  /** How long its connections may go on. */
  readonly afterSeconds: number;
}

/**
 * The endpoints that a change takes from service ports that ask for an end of connections. An endpoint counts as gone when
 * no EndpointSlice of the Service lists it any more, or when the service port is gone. While it is listed it may finish
 * its connections by itself, even if it is terminating and no longer serves.
 */
export function endedEndpoints(change: Change<ServiceState>): readonly EndedEndpoint[] {
  if (change.type === 'added') return NONE;
  const { from } = change;
  if (from.ports.every(port => !endsConnections(port))) {
    const asksNow = change.type === 'updated' && change.to.ports.some(endsConnections);
    if (!asksNow) return NONE;
  }
  const to = change.type === 'updated' ? change.to : undefined;
  const ended: EndedEndpoint[] = [];
  for (const port of from.ports) {
    const next = to?.ports.find(other => sameFrontend(port, other));
    const afterSeconds = (next ?? port).options.resetAfterSeconds;
    if (port.protocol !== 'TCP' || afterSeconds === undefined) continue;
    const left = new Set(to && next ? listedEndpoints(to, next).map(({ text }) => text) : NONE);
    for (const endpoint of listedEndpoints(from, port)) {
      if (!left.has(endpoint.text)) ended.push({ service: from.key, port, endpoint, afterSeconds });
    }
  }
  return ended;
}

/** Whether the endpoint is still gone, and the Service still asks for the end of its connections. */
export function isStillEnded({ port, endpoint }: EndedEndpoint, service: ServiceState | undefined): boolean {
  const now = service?.ports.find(other => sameFrontend(port, other));
  if (!service || !now) return true;
  return endsConnections(now) && !listedEndpoints(service, now).some(({ text }) => text === endpoint.text);
}

/** Identifies an endpoint of a service port. */
export function endedEndpointKey({ service, port, endpoint }: EndedEndpoint): string {
  return `${service} ${joinHostPort(port.clusterIP, port.port)} ${endpoint.text}`;
}

/** `ns/name:port` */
export function endedPortName({ service, port }: EndedEndpoint): string {
  return servicePortName(service, port.name);
}

/** A TCP connection to a Service: where the client sends, and the endpoint that answers. */
export type Connection = Omit<Flow, 'protocol'>;

/** Returns `ns/name` of the Service that has a TCP port at an address now. `ip` is undefined for a node port. */
export type AddressOwner = (ip: string | undefined, port: number) => string | undefined;

/**
 * Returns a function that finds the endpoint that is gone and that a connection goes to. Only addresses of the node have
 * node ports: a cluster IP of another Service may have a port with the same number. A Service may also name an address
 * that another Service owns. Connections to such an address belong to the owner.
 */
export function endedConnectionTest(
  ended: readonly EndedEndpoint[],
  allowExternalIPs: boolean,
  isNodeAddress: (ip: string) => boolean = () => true,
  ownerAt: AddressOwner = () => undefined,
): (connection: Connection) => EndedEndpoint | undefined {
  const byFrontend = new Map<string, EndedEndpoint>();
  for (const each of ended) {
    const { port, endpoint } = each;
    for (const ip of addressesOf(port, allowExternalIPs))
      byFrontend.set(`${endpoint.text} ${joinHostPort(ip, port.port)}`, each);
    if (port.nodePort !== 0) byFrontend.set(`${endpoint.text} ${port.nodePort}`, each);
  }
  return ({ destination, answeredBy }) => {
    const endpoint = joinHostPort(answeredBy.ip, answeredBy.port);
    // A connection straight to the endpoint belongs to no Service.
    if (destination.ip === answeredBy.ip && destination.port === answeredBy.port) return undefined;
    const { ip, port } = destination;
    const found = byFrontend.get(`${endpoint} ${joinHostPort(ip, port)}`);
    if (found) return isOwner(found, ownerAt(ip, port)) ? found : undefined;
    const atNodePort = byFrontend.get(`${endpoint} ${port}`);
    if (!atNodePort || !isNodeAddress(ip)) return undefined;
    return isOwner(atNodePort, ownerAt(undefined, port)) ? atNodePort : undefined;
  };
}

/** The Service may be gone, and then its address has no owner. */
function isOwner({ service }: EndedEndpoint, owner: string | undefined): boolean {
  return owner === undefined || owner === service;
}

function endsConnections(port: ServicePort): boolean {
  return port.options.resetAfterSeconds !== undefined;
}

/**
 * The endpoints of a port, and those that slices list for a port that the Service does not have. A Service gets a new
 * name of a port before its slices do, and until then these are the endpoints of that port.
 */
function listedEndpoints(service: ServiceState, port: ServicePort): readonly Endpoint[] {
  const others = service.endpoints.filter(
    ({ name, protocol }) => protocol === port.protocol && !service.ports.some(isNamed(name, protocol)),
  );
  const own = endpointsOf(service, port);
  return others.length === 0 ? own : [...own, ...others.flatMap(({ endpoints }) => endpoints)];
}

function isNamed(name: string, protocol: ServicePort['protocol']): (port: ServicePort) => boolean {
  return port => port.name === name && port.protocol === protocol;
}

/** The name of a port may change while its connections go on. */
function sameFrontend(a: ServicePort, b: ServicePort): boolean {
  return a.protocol === b.protocol && a.clusterIP === b.clusterIP && a.port === b.port;
}
