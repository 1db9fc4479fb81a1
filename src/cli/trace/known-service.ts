import type { Service } from '../../api/index.ts';
import { isRecord } from '../../lib/is-record.ts';
import { type Ip, parseIp } from '../../net/index.ts';
import { readManifests } from '../../source/index.ts';
import type { FlowProtocol } from '../../trace/index.ts';
import type { ProxySocket } from '../proxy-socket.ts';

/** The addresses and ports of a Service. */
export interface KnownService {
  /** `ns/name` */
  readonly key: string;
  readonly addresses: readonly Ip[];
  readonly ports: readonly KnownPort[];
}

export interface KnownPort {
  /** Undefined if the source has no names. */
  readonly name: string | undefined;
  readonly port: number;
  readonly nodePort: number | undefined;
  readonly protocol: FlowProtocol;
}

/** Rejects with an Error that says what to do if there is no such Service. */
export type FindService = (namespace: string, name: string) => Promise<KnownService>;

/** Asks the proxy of this node. */
export function serviceFromProxy(socket: ProxySocket): FindService {
  return async (namespace, name) => {
    const key = `${namespace}/${name}`;
    for await (const row of socket.lines(`/v1/services?name=${encodeURIComponent(key)}`)) {
      const found = isRecord(row) ? serviceOfRow(key, row) : undefined;
      if (found) return found;
    }
    throw new Error(`the proxy knows no Service ${key}: give its address instead, as in --to 10.96.0.10:80`);
  };
}

/** `80/TCP`, or `80:30080/TCP` with a node port. */
const PORT_TEXT = /^(\d+)(?::(\d+))?\/(TCP|UDP|SCTP)$/;

/** Undefined for lines that are about something else, such as the first one. */
function serviceOfRow(key: string, row: Readonly<Record<string, unknown>>): KnownService | undefined {
  const { namespace, name, addresses, ports } = row;
  if (`${namespace}/${name}` !== key || !Array.isArray(addresses) || !Array.isArray(ports)) return undefined;
  return { key, addresses: ipsOf(addresses), ports: ports.flatMap(port => portOfText(String(port))) };
}

function portOfText(text: string): readonly KnownPort[] {
  const [, port, nodePort, protocol] = PORT_TEXT.exec(text) ?? [];
  if (port === undefined) return [];
  return [
    {
      name: undefined,
      port: Number(port),
      nodePort: nodePort === undefined ? undefined : Number(nodePort),
      protocol: protocol as FlowProtocol,
    },
  ];
}

/** Reads the Services of manifests. */
export function serviceFromManifests(path: string): FindService {
  return async (namespace, name) => {
    const { manifests } = await readManifests(path, { allowLoopbackEndpoints: true });
    for (const { object } of manifests.values()) {
      const { kind, metadata } = object;
      if (kind === 'Service' && metadata.namespace === namespace && metadata.name === name) return serviceOf(object);
    }
    throw new Error(`${path} has no Service ${namespace}/${name}`);
  };
}

function serviceOf({ metadata, spec, status }: Service): KnownService {
  const clusterIPs = spec.clusterIPs.length > 0 ? spec.clusterIPs : [spec.clusterIP];
  const ingress = status.loadBalancer.ingress.map(({ ip }) => ip);
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    addresses: ipsOf([...clusterIPs, ...spec.externalIPs, ...ingress]),
    ports: spec.ports.map(({ name, port, nodePort, protocol }) => ({
      name: name || undefined,
      port,
      nodePort: nodePort || undefined,
      protocol,
    })),
  };
}

/** Without what is no address, such as `None` of a headless Service. */
function ipsOf(texts: readonly unknown[]): readonly Ip[] {
  return [...new Set(texts.flatMap(text => (typeof text === 'string' ? (parseIp(text) ?? []) : [])))];
}
