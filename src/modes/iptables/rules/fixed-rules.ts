import { Chain } from '../names.ts';
import type { RuleOptions } from './rule-options.ts';

export type Table = 'filter' | 'nat';

/** A rule of a built-in chain that jumps to one of our chains. */
export interface Jump {
  readonly table: Table;
  readonly from: string;
  readonly to: string;
  /** The words after the name of the built-in chain. */
  readonly rule: readonly string[];
}

const NEW = ['-m', 'conntrack', '--ctstate', 'NEW'];

/** In the order of insertion. Each jump is inserted at the top of its chain. */
export const JUMPS: readonly Jump[] = [
  jump('filter', 'INPUT', Chain.EXTERNAL_SERVICES, 'kubernetes externally-visible service portals', NEW),
  jump('filter', 'FORWARD', Chain.EXTERNAL_SERVICES, 'kubernetes externally-visible service portals', NEW),
  jump('filter', 'INPUT', Chain.NODEPORTS, 'kubernetes health check service ports'),
  jump('filter', 'FORWARD', Chain.SERVICES, 'kubernetes service portals', NEW),
  jump('filter', 'OUTPUT', Chain.SERVICES, 'kubernetes service portals', NEW),
  jump('filter', 'FORWARD', Chain.FORWARD, 'kubernetes forwarding rules'),
  jump('filter', 'INPUT', Chain.PROXY_FIREWALL, 'kubernetes load balancer firewall', NEW),
  jump('filter', 'OUTPUT', Chain.PROXY_FIREWALL, 'kubernetes load balancer firewall', NEW),
  jump('filter', 'FORWARD', Chain.PROXY_FIREWALL, 'kubernetes load balancer firewall', NEW),
  jump('nat', 'OUTPUT', Chain.SERVICES, 'kubernetes service portals'),
  jump('nat', 'PREROUTING', Chain.SERVICES, 'kubernetes service portals'),
  jump('nat', 'POSTROUTING', Chain.POSTROUTING, 'kubernetes postrouting rules'),
  jump('filter', 'INPUT', Chain.FIREWALL, undefined),
  jump('filter', 'OUTPUT', Chain.FIREWALL, undefined),
];

function jump(
  table: Table,
  from: string,
  to: string,
  comment: string | undefined,
  match: readonly string[] = [],
): Jump {
  const words = comment === undefined ? [] : ['-m', 'comment', '--comment', comment];
  return { table, from, to, rule: [...match, ...words, '-j', to] };
}

/** The chains in which all service ports have rules. The order of the service ports does not matter in them. */
export const SHARED_CHAINS: Readonly<Record<Table, readonly string[]>> = {
  filter: [Chain.SERVICES, Chain.EXTERNAL_SERVICES, Chain.NODEPORTS, Chain.PROXY_FIREWALL],
  nat: [Chain.SERVICES, Chain.NODEPORTS],
};

/** The chains of filter that a full sync writes. Without localhost node ports, KUBE-FIREWALL belongs to the kubelet. */
export function filterChains({ machine }: RuleOptions): readonly string[] {
  const chains = [Chain.SERVICES, Chain.EXTERNAL_SERVICES, Chain.FORWARD, Chain.NODEPORTS, Chain.PROXY_FIREWALL];
  return machine.localhostNodePorts ? [...chains, Chain.FIREWALL] : chains;
}

/** Rules of filter that come before those of service ports. */
export function filterRulesBefore({ machine }: RuleOptions): readonly string[] {
  if (!machine.localhostNodePorts) return [];
  return [
    `-A ${Chain.FIREWALL} -m comment --comment "block incoming localnet connections" -d 127.0.0.0/8 ! -s 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP`,
  ];
}

/** Rules of filter that come after those of service ports. */
export function filterRulesAfter({ machine, mark }: RuleOptions): readonly string[] {
  const { tcpLiberal, counters } = machine;
  const count = counters.has('ct_state_invalid_dropped_pkts')
    ? ' -m nfacct --nfacct-name ct_state_invalid_dropped_pkts'
    : '';
  const start = `-A ${Chain.FORWARD}`;
  return [
    ...(tcpLiberal ? [] : [`${start} -m conntrack --ctstate INVALID${count} -j DROP`]),
    `${start} -m comment --comment "kubernetes forwarding rules" -m mark --mark ${mark}/${mark} -j ACCEPT`,
    `${start} -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT`,
  ];
}

/** The chains of nat whose rules do not depend on Services. */
export const NAT_FIXED_CHAINS: readonly string[] = [Chain.POSTROUTING, Chain.MARK_MASQ];

export function natFixedRules({ mark, machine }: RuleOptions): readonly string[] {
  const random = machine.randomFully ? ' --random-fully' : '';
  // An endpoint accepts a port that it still has in TIME_WAIT if the timestamps are newer. Those of one port only grow.
  const kept = `-A ${Chain.POSTROUTING} -p tcp -m addrtype --src-type LOCAL -m comment --comment "keep source ports of node processes" -j MASQUERADE`;
  return [
    `-A ${Chain.POSTROUTING} -m mark ! --mark ${mark}/${mark} -j RETURN`,
    // A packet may pass here again, for example out of a tunnel. It must not be masqueraded again.
    `-A ${Chain.POSTROUTING} -j MARK --xor-mark ${mark}`,
    ...(machine.keepsNodeSourcePorts ? [kept] : []),
    `-A ${Chain.POSTROUTING} -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE${random}`,
    `-A ${Chain.MARK_MASQ} -j MARK --or-mark ${mark}`,
  ];
}

/** The last rules of KUBE-SERVICES in nat: packets that match no rule before them may be for a node port. */
export function nodePortRules({ family, nodePortAddresses, nodePortIPs, machine }: RuleOptions): readonly string[] {
  const start = `-A ${Chain.SERVICES} -m comment --comment "kubernetes service nodeports; NOTE: this must be the last rule in this chain"`;
  const end = `-j ${Chain.NODEPORTS}`;
  if (!nodePortAddresses.matchAll) return nodePortIPs.map(ip => `${start} -d ${ip} ${end}`);
  const except = machine.localhostNodePorts ? '' : family === 'IPv4' ? ' ! -d 127.0.0.0/8' : ' ! -d ::1/128';
  return [`${start} -m addrtype --dst-type LOCAL${except} ${end}`];
}
