import { LABEL_ZONE, type Node } from '../api/index.ts';
import { type Family, familyOf, type Ip, isLoopback, isUnspecified, otherFamily, parseIp } from '../net/index.ts';

/** The properties of the proxy's node that decide which endpoints it uses. */
export interface NodeTopology {
  readonly name: string;
  /** Empty if the node has no zone label. */
  readonly zone: string;
}

/** The name of this node in the API: the override or the machine's host name, trimmed and in lower case. */
export function nodeNameFrom(hostnameOverride: string, hostname: string): string | undefined {
  const name = (hostnameOverride || hostname).trim().toLowerCase();
  return name === '' ? undefined : name;
}

export function zoneOf(node: Node | undefined): string {
  return node?.metadata.labels[LABEL_ZONE] ?? '';
}

/** The node's own address in each family, or a loopback address if it is not known, and the primary family. */
export interface NodeIPs {
  readonly primary: Family;
  readonly IPv4: Ip;
  readonly IPv6: Ip;
}

const LOOPBACK = { IPv4: '127.0.0.1' as Ip, IPv6: '::1' as Ip } as const;

/** The first address and the first address of the other family. Internal addresses go before external ones. */
export function rawNodeIPs(node: Node | undefined): readonly Ip[] {
  const ofType = (type: string) => (node?.addresses ?? []).filter(address => address.type === type);
  const ips = [...ofType('InternalIP'), ...ofType('ExternalIP')].map(({ address }) => parseIp(address));
  const first = ips.find(ip => ip !== undefined);
  if (first === undefined) return [];
  const second = ips.find(ip => ip !== undefined && familyOf(ip) === otherFamily(familyOf(first)));
  return second === undefined ? [first] : [first, second];
}

/** A bind address that is not unspecified (`0.0.0.0`, `::`) replaces the Node's address of its family. */
export function detectNodeIPs(node: Node | undefined, bindAddress: string): NodeIPs {
  const chosen = [...rawNodeIPs(node)];
  const bind = parseIp(bindAddress);
  let [first] = chosen;
  if (bind !== undefined && !isUnspecified(bind)) {
    chosen.push(bind);
    first = bind;
  }
  const last = (family: Family) => chosen.findLast(ip => familyOf(ip) === family) ?? LOOPBACK[family];
  return { primary: first === undefined ? 'IPv4' : familyOf(first), IPv4: last('IPv4'), IPv6: last('IPv6') };
}

export function isNodeIPKnown(ips: NodeIPs, family: Family): boolean {
  return !isLoopback(ips[family]);
}
