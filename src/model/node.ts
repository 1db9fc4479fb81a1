import { LABEL_ZONE, type Node } from '../api/index.ts';
import { type Family, familyOf, type Ip, isLoopback, isUnspecified, otherFamily, parseIp } from '../net/index.ts';

/** What decisions depend on, of the node that the proxy runs on. */
export interface NodeTopology {
  readonly name: string;
  /** Empty if the node has no zone label. */
  readonly zone: string;
}

/** The name by which the API knows this node: an override or the machine's host name, trimmed and in lower case. */
export function nodeNameFrom(hostnameOverride: string, hostname: string): string | undefined {
  const name = (hostnameOverride || hostname).trim().toLowerCase();
  return name === '' ? undefined : name;
}

export function zoneOf(node: Node | undefined): string {
  return node?.metadata.labels[LABEL_ZONE] ?? '';
}

/** The node's own address in each family, loopback where it is not known, and the family that comes first. */
export interface NodeIPs {
  readonly primary: Family;
  readonly IPv4: Ip;
  readonly IPv6: Ip;
}

const LOOPBACK = { IPv4: '127.0.0.1' as Ip, IPv6: '::1' as Ip } as const;

/** The first internal address (external ones after all internal ones), and the first of the other family. */
export function rawNodeIPs(node: Node | undefined): readonly Ip[] {
  const of = (type: string) => (node?.addresses ?? []).filter(address => address.type === type);
  const ips = [...of('InternalIP'), ...of('ExternalIP')].map(({ address }) => parseIp(address));
  const first = ips.find(ip => ip !== undefined);
  if (first === undefined) return [];
  const second = ips.find(ip => ip !== undefined && familyOf(ip) === otherFamily(familyOf(first)));
  return second === undefined ? [first] : [first, second];
}

/** An address to bind to outweighs what the Node says, unless it is unspecified. */
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
