import type { EndpointSlice, Protocol, Service, ServicePortSpec } from '../../src/api/index.ts';
import { type Cluster, type ProbeProtocol, placementOf } from '../../src/demo/playground/index.ts';
import { type NetworkNamespace, namespaceCookie } from '../../src/kernel/netns.ts';
import { type Family, familyOf, type Ip } from '../../src/net/index.ts';
import { address, type Endpoints } from './endpoints.ts';

/** One line of the matrix: a caller, and the address and port that it asks. */
export interface Question<From extends Source = ProbeSource> {
  /** `web:80/tcp clusterIP 10.96.0.10:80 from pod` */
  readonly text: string;
  readonly service: Service;
  readonly source: From;
  readonly ip: Ip;
  readonly port: number;
  readonly protocol: ProbeProtocol;
}

export interface Source {
  readonly name: string;
  /** Whether it is a pod that may be an endpoint of the Service that it asks. */
  readonly isEndpoint?: boolean;
}

/** A source that sends real packets. */
export interface ProbeSource extends Source {
  readonly namespace: NetworkNamespace;
}

export type Sources<From extends Source = ProbeSource> = Readonly<Record<Family, readonly From[]>>;

interface Destination {
  readonly kind: string;
  readonly ip: Ip;
  readonly port: number;
}

const LOOPBACK = 'nodePort-lo';
/** A pod on the node that is no endpoint. */
export const CLIENT_POD: Readonly<Record<Family, string>> = { IPv4: '10.244.1.200', IPv6: 'fd00:10:244:1::200' };
export const MAX_ASKING_ENDPOINTS = 2;

/** Asks every destination of every service port from every kind of source. */
export function questions<From extends Source>(
  services: readonly Service[],
  sources: Sources<From>,
): readonly Question<From>[] {
  return services.flatMap(service =>
    service.spec.ports.flatMap(port =>
      destinations(service, port).flatMap(destination =>
        sources[familyOf(destination.ip)]
          .filter(({ name }) => destination.kind !== LOOPBACK || name === 'node')
          .flatMap(source => questionOf(service, port, destination, source)),
      ),
    ),
  );
}

function questionOf<From extends Source>(
  service: Service,
  { name, port: servicePort, protocol }: ServicePortSpec,
  { kind, ip, port }: Destination,
  source: From,
): readonly Question<From>[] {
  if (!isProbed(protocol)) return [];
  const head = `${service.metadata.name}:${name || servicePort}/${protocol.toLowerCase()}`;
  return [{ text: `${head} ${kind} ${ip}:${port} from ${source.name}`, service, source, ip, port, protocol }];
}

/** The suite does not ask over SCTP, because not every kernel has a module for it. */
function isProbed(protocol: Protocol): protocol is ProbeProtocol {
  return protocol !== 'SCTP';
}

function destinations({ spec, status }: Service, { port, nodePort }: ServicePortSpec): readonly Destination[] {
  const at = (kind: string, ips: readonly string[], port: number): readonly Destination[] =>
    ips.map(ip => ({ kind, ip: address(ip), port }));
  const has = (family: Family) => nodePort !== 0 && spec.ipFamilies.includes(family);
  const clusterIPs = spec.clusterIPs.filter(ip => ip !== 'None');
  const ingress = status.loadBalancer.ingress.map(({ ip }) => ip).filter(Boolean);
  return [
    ...at('clusterIP', clusterIPs, port),
    ...at('externalIP', spec.externalIPs, port),
    ...at('lbIP', ingress, port),
    ...at('nodePort', has('IPv4') ? ['192.168.0.2'] : [], nodePort),
    ...at(LOOPBACK, has('IPv4') ? ['127.0.0.1'] : [], nodePort),
    ...at('nodePort', has('IPv6') ? ['fd00:192:168::2'] : [], nodePort),
  ];
}

/** The sources of a cluster that send real packets. */
export function clusterSources(cluster: Cluster, endpoints: Endpoints): Sources {
  return { IPv4: sourcesOf('IPv4', cluster, endpoints), IPv6: sourcesOf('IPv6', cluster, endpoints) };
}

function sourcesOf(family: Family, cluster: Cluster, endpoints: Endpoints): readonly ProbeSource[] {
  return [
    { name: 'node', namespace: cluster.node },
    { name: 'pod', namespace: cluster.addPod(address(CLIENT_POD[family])) },
    { name: 'ext', namespace: cluster.host('ext') },
    { name: 'other-node', namespace: cluster.host('other-node') },
    ...endpoints
      .localPods(family)
      .slice(0, MAX_ASKING_ENDPOINTS)
      .map(([ip, namespace]) => ({ name: `self(${ip})`, namespace, isEndpoint: true })),
  ];
}

/** The network namespaces whose sockets are on the node, by cookie. All others stand for other machines. */
export function socketsOfNode(cluster: Cluster, slices: readonly EndpointSlice[]): Iterable<bigint> {
  // Only ebpf mode reads them, which makes the pods.
  return { [Symbol.iterator]: () => cookiesOnNode(cluster, slices)[Symbol.iterator]() };
}

function cookiesOnNode(cluster: Cluster, slices: readonly EndpointSlice[]): readonly bigint[] {
  const endpoints = slices.flatMap(slice => slice.endpoints.map(({ addresses }) => address(addresses[0] ?? '')));
  const pods = [...endpoints, ...Object.values(CLIENT_POD).map(address)].filter(ip => placementOf(ip).kind === 'pod');
  const namespaces = [cluster.node, ...pods.map(ip => cluster.addPod(ip))];
  return [...new Set(namespaces.map(namespaceCookie))];
}
