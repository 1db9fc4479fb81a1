import { type Cidr, type Family, type Ip, parseCidr } from '../../net/index.ts';

/** The machines of the cluster beside the node. Those that are nodes too have the pods of one range. */
export type HostName = 'other-node' | 'third-node' | 'ext';

export interface Host {
  readonly name: HostName;
  /** The last part of its addresses, 192.168.0.N and fd00:192:168::N. */
  readonly number: number;
  /** Its pods are 10.244.N.* and fd00:10:244:N::*. */
  readonly podRange?: number;
  /** Whether it routes packets for Services to the node. */
  readonly usesServices: boolean;
}

export const HOSTS: readonly Host[] = [
  { name: 'other-node', number: 3, podRange: 2, usesServices: true },
  { name: 'third-node', number: 4, podRange: 3, usesServices: false },
  { name: 'ext', number: 100, usesServices: true },
];

export const NODE_NUMBER = 2;
export const NODE_POD_RANGE = 1;

/** The networks of cluster IPs, load-balancer IPs and external IPs. */
export const SERVICE_NETWORKS: readonly Cidr[] = [
  '10.96.0.0/12',
  '203.0.113.0/24',
  '198.51.100.0/24',
  'fd00:10:96::/108',
  '2001:db8::/64',
].map(network);

export const DEFAULT_NETWORK: Readonly<Record<Family, Cidr>> = { IPv4: network('0.0.0.0/0'), IPv6: network('::/0') };

export const LAN_PREFIX: Readonly<Record<Family, number>> = { IPv4: 24, IPv6: 64 };

/** A machine's address on the network between machines. The IPv6 address has the number's decimal digits. */
export function lanIp(family: Family, number: number): Ip {
  return (family === 'IPv4' ? `192.168.0.${number}` : `fd00:192:168::${number}`) as Ip;
}

export function podNetwork(family: Family, range: number): Cidr {
  return network(family === 'IPv4' ? `10.244.${range}.0/24` : `fd00:10:244:${range}::/64`);
}

/** The node's own address in the network of its pods. */
export function podGateway(family: Family): Ip {
  return (family === 'IPv4' ? `10.244.${NODE_POD_RANGE}.1` : `fd00:10:244:${NODE_POD_RANGE}::1`) as Ip;
}

function network(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr) throw new RangeError(`not a network: ${text}`);
  return cidr;
}
