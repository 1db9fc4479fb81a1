import type { IpSet, SetType } from '../../kernel/ipset/index.ts';
import type { Family } from '../../net/index.ts';

/**
 * The link that has the addresses of Services. Because of it the kernel treats packets to these addresses as its own,
 * and hands them to ipvs.
 */
export const LINK = 'kube-ipvs0';

export type Table = 'nat' | 'filter';

export const TABLES: readonly Table[] = ['nat', 'filter'];

/** The mode's chains, in the order in which the rules declare them. */
export const CHAINS: Readonly<Record<Table, readonly string[]>> = {
  nat: ['KUBE-SERVICES', 'KUBE-POSTROUTING', 'KUBE-NODE-PORT', 'KUBE-LOAD-BALANCER', 'KUBE-MARK-MASQ'],
  filter: [
    'KUBE-FORWARD',
    'KUBE-NODE-PORT',
    'KUBE-PROXY-FIREWALL',
    'KUBE-SOURCE-RANGES-FIREWALL',
    'KUBE-IPVS-FILTER',
    'KUBE-IPVS-OUT-FILTER',
  ],
};

/** Chains that no other mode makes. Where none of them exists, ipvs mode has no rules. */
export const MARKER_CHAINS: readonly string[] = [
  'KUBE-NODE-PORT',
  'KUBE-LOAD-BALANCER',
  'KUBE-SOURCE-RANGES-FIREWALL',
  'KUBE-IPVS-FILTER',
  'KUBE-IPVS-OUT-FILTER',
];

interface SetDescription {
  /** The name of the IPv4 set. */
  readonly name: string;
  readonly type: SetType;
  /** The comment of the rules that use the set. */
  readonly comment: string;
}

/** The sets that the rules match. */
export const SETS = {
  loopBack: {
    name: 'KUBE-LOOP-BACK',
    type: 'hash:ip,port,ip',
    comment: 'Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose',
  },
  clusterIP: {
    name: 'KUBE-CLUSTER-IP',
    type: 'hash:ip,port',
    comment: 'Kubernetes service cluster ip + port for masquerade purpose',
  },
  externalIP: {
    name: 'KUBE-EXTERNAL-IP',
    type: 'hash:ip,port',
    comment: 'Kubernetes service external ip + port for masquerade and filter purpose',
  },
  externalIPLocal: {
    name: 'KUBE-EXTERNAL-IP-LOCAL',
    type: 'hash:ip,port',
    comment: 'Kubernetes service external ip + port with externalTrafficPolicy=local',
  },
  loadBalancer: {
    name: 'KUBE-LOAD-BALANCER',
    type: 'hash:ip,port',
    comment: 'Kubernetes service lb portal',
  },
  loadBalancerFirewall: {
    name: 'KUBE-LOAD-BALANCER-FW',
    type: 'hash:ip,port',
    comment: 'Kubernetes service load balancer ip + port for load balancer with sourceRange',
  },
  loadBalancerLocal: {
    name: 'KUBE-LOAD-BALANCER-LOCAL',
    type: 'hash:ip,port',
    comment: 'Kubernetes service load balancer ip + port with externalTrafficPolicy=local',
  },
  loadBalancerSourceIP: {
    name: 'KUBE-LOAD-BALANCER-SOURCE-IP',
    type: 'hash:ip,port,ip',
    comment: 'Kubernetes service load balancer ip + port + source IP for packet filter purpose',
  },
  loadBalancerSourceCIDR: {
    name: 'KUBE-LOAD-BALANCER-SOURCE-CIDR',
    type: 'hash:ip,port,net',
    comment: 'Kubernetes service load balancer ip + port + source cidr for packet filter purpose',
  },
  nodePortTCP: {
    name: 'KUBE-NODE-PORT-TCP',
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport TCP port for masquerade purpose',
  },
  nodePortLocalTCP: {
    name: 'KUBE-NODE-PORT-LOCAL-TCP',
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport TCP port with externalTrafficPolicy=local',
  },
  nodePortUDP: {
    name: 'KUBE-NODE-PORT-UDP',
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport UDP port for masquerade purpose',
  },
  nodePortLocalUDP: {
    name: 'KUBE-NODE-PORT-LOCAL-UDP',
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport UDP port with externalTrafficPolicy=local',
  },
  nodePortSCTP: {
    name: 'KUBE-NODE-PORT-SCTP-HASH',
    type: 'hash:ip,port',
    comment: "Kubernetes nodeport SCTP port for masquerade purpose with type 'hash ip:port'",
  },
  nodePortLocalSCTP: {
    name: 'KUBE-NODE-PORT-LOCAL-SCTP-HASH',
    type: 'hash:ip,port',
    comment: "Kubernetes nodeport SCTP port with externalTrafficPolicy=local with type 'hash ip:port'",
  },
  healthCheckNodePort: {
    name: 'KUBE-HEALTH-CHECK-NODE-PORT',
    type: 'bitmap:port',
    comment: 'Kubernetes health check node port',
  },
  /** The addresses of kube-ipvs0. */
  ipvsIPs: {
    name: 'KUBE-IPVS-IPS',
    type: 'hash:ip',
    comment: 'Addresses on the ipvs interface',
  },
} as const satisfies Readonly<Record<string, SetDescription>>;

export type SetKey = keyof typeof SETS;

export const SET_KEYS = Object.keys(SETS).filter((key): key is SetKey => Object.hasOwn(SETS, key));

/** The kernel's limit for the name of a set. */
const MAX_NAME_LENGTH = 31;

export function setName(key: SetKey, family: Family): string {
  const { name } = SETS[key];
  return family === 'IPv4' ? name : name.replace(/^KUBE-/, 'KUBE-6-').slice(0, MAX_NAME_LENGTH);
}

export function ipSet(key: SetKey, family: Family): IpSet {
  const { type } = SETS[key];
  const name = setName(key, family);
  if (type === 'bitmap:port') return { name, type, range: { from: 0, to: 65535 } };
  return { name, type, family, hashsize: 1024, maxelem: 65536 };
}

/** `KUBE-CLUSTER-IP 10.96.0.1,tcp:80`: no other object has this id. `name` is unique only in its set. */
export function elementId(set: SetKey, name: string, family: Family): string {
  return `${setName(set, family)} ${name}`;
}
