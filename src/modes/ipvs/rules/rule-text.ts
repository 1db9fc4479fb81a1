import type { LocalDetector } from '../../../model/index.ts';
import type { Family } from '../../../net/index.ts';
import { localMatch, markText } from '../../iptables-words.ts';
import type { Drop } from '../render.ts';
import { SETS, type SetKey, setName } from '../names.ts';

/** What the rules depend on. Services are in sets, so these are few and change rarely. */
export interface RuleInput {
  readonly family: Family;
  readonly masqueradeAll: boolean;
  readonly masqueradeMark: number;
  readonly localDetector: LocalDetector | undefined;
  /** The iptables programs know `--random-fully`. */
  readonly randomFully: boolean;
  /** The sets that are not empty. */
  readonly used: ReadonlySet<SetKey>;
  readonly drops: readonly Drop[];
}

export type Table = 'nat' | 'filter';

export const TABLES: readonly Table[] = ['nat', 'filter'];

/** Our own chains, in the order in which they are declared. */
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

export interface Jump {
  readonly table: Table;
  readonly from: string;
  readonly to: string;
  readonly comment: string;
}

/** Each is put first in its chain, one after the other. */
export const JUMPS: readonly Jump[] = [
  { table: 'nat', from: 'OUTPUT', to: 'KUBE-SERVICES', comment: 'kubernetes service portals' },
  { table: 'nat', from: 'PREROUTING', to: 'KUBE-SERVICES', comment: 'kubernetes service portals' },
  { table: 'nat', from: 'POSTROUTING', to: 'KUBE-POSTROUTING', comment: 'kubernetes postrouting rules' },
  { table: 'filter', from: 'FORWARD', to: 'KUBE-FORWARD', comment: 'kubernetes forwarding rules' },
  { table: 'filter', from: 'INPUT', to: 'KUBE-NODE-PORT', comment: 'kubernetes health check rules' },
  { table: 'filter', from: 'INPUT', to: 'KUBE-PROXY-FIREWALL', comment: 'kube-proxy firewall rules' },
  { table: 'filter', from: 'FORWARD', to: 'KUBE-PROXY-FIREWALL', comment: 'kube-proxy firewall rules' },
  { table: 'filter', from: 'INPUT', to: 'KUBE-IPVS-FILTER', comment: 'kubernetes ipvs access filter' },
  { table: 'filter', from: 'OUTPUT', to: 'KUBE-IPVS-OUT-FILTER', comment: 'kubernetes ipvs access filter' },
];

/** Whether a chain, or a rule that jumps, is of this mode. */
export const OWN_RULES = {
  chain: (table: string, chain: string) => TABLES.some(own => own === table && CHAINS[own].includes(chain)),
  jump: (table: string, from: string, rule: string) =>
    JUMPS.some(jump => jump.table === table && jump.from === from && jumpRule(jump) === rule),
};

/** What stands behind the name of the chain that jumps. */
export function jumpRule({ comment, to }: Jump): string {
  return `-m comment --comment "${comment}" -j ${to}`;
}

/** The text for iptables-restore, which also makes the jumps that are missing. */
export function restoreText(input: RuleInput, jumps: readonly Jump[]): string {
  const rules: Readonly<Record<Table, readonly string[]>> = { nat: natRules(input), filter: filterRules(input) };
  const lines = TABLES.flatMap(table => [
    `*${table}`,
    ...CHAINS[table].map(chain => `:${chain} - [0:0]`),
    ...jumps.filter(jump => jump.table === table).map(jump => `-I ${jump.from} ${jumpRule(jump)}`),
    ...rules[table],
    'COMMIT',
  ]);
  return `${lines.join('\n')}\n`;
}

export function countRules(input: RuleInput, table: Table): number {
  return (table === 'nat' ? natRules(input) : filterRules(input)).length;
}

export function sameRules(a: RuleInput, b: RuleInput): boolean {
  return (
    a.drops === b.drops &&
    a.masqueradeAll === b.masqueradeAll &&
    a.masqueradeMark === b.masqueradeMark &&
    a.used.size === b.used.size &&
    [...a.used].every(set => b.used.has(set)) &&
    JSON.stringify(a.localDetector) === JSON.stringify(b.localDetector)
  );
}

function natRules(input: RuleInput): readonly string[] {
  const { family, masqueradeMark, randomFully } = input;
  const mark = markText(masqueradeMark);
  return [
    `-A KUBE-SERVICES -s ${family === 'IPv4' ? '127.0.0.0/8' : '::1/128'} -j RETURN`,
    // A connection of an endpoint to itself has no mark, so it must be masqueraded before marks are looked at.
    ...commented(input, 'KUBE-POSTROUTING', 'loopBack', 'dst,dst,src', '-j MASQUERADE'),
    ...commented(input, 'KUBE-SERVICES', 'loadBalancer', 'dst,dst', '-j KUBE-LOAD-BALANCER'),
    ...commented(input, 'KUBE-LOAD-BALANCER', 'loadBalancerLocal', 'dst,dst', '-j RETURN'),
    ...nodePortRules(input),
    ...clusterIPRules(input),
    ...externalIPRules(input),
    '-A KUBE-SERVICES -m addrtype --dst-type LOCAL -j KUBE-NODE-PORT',
    '-A KUBE-LOAD-BALANCER -j KUBE-MARK-MASQ',
    ...accepted(input, 'clusterIP'),
    ...accepted(input, 'loadBalancer'),
    `-A KUBE-POSTROUTING -m mark ! --mark ${mark}/${mark} -j RETURN`,
    // The mark is taken away, so that a packet that passes again is not masqueraded twice.
    `-A KUBE-POSTROUTING -j MARK --xor-mark ${mark}`,
    `-A KUBE-POSTROUTING -m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE${randomFully ? ' --random-fully' : ''}`,
    `-A KUBE-MARK-MASQ -j MARK --or-mark ${mark}`,
  ];
}

/** Policy Local comes first: its ports are in both sets and must not be masqueraded. */
function nodePortRules(input: RuleInput): readonly string[] {
  const rule = (protocol: string, set: SetKey, match: string, jump: string) =>
    commented(input, `KUBE-NODE-PORT -p ${protocol}`, set, match, `-j ${jump}`);
  return [
    ...rule('tcp', 'nodePortLocalTCP', 'dst', 'RETURN'),
    ...rule('tcp', 'nodePortTCP', 'dst', 'KUBE-MARK-MASQ'),
    ...rule('udp', 'nodePortLocalUDP', 'dst', 'RETURN'),
    ...rule('udp', 'nodePortUDP', 'dst', 'KUBE-MARK-MASQ'),
    ...rule('sctp', 'nodePortLocalSCTP', 'dst,dst', 'RETURN'),
    ...rule('sctp', 'nodePortSCTP', 'dst,dst', 'KUBE-MARK-MASQ'),
  ];
}

function clusterIPRules(input: RuleInput): readonly string[] {
  const rule = (match: string, rest: string) => commented(input, 'KUBE-SERVICES', 'clusterIP', match, rest);
  if (input.masqueradeAll) return rule('dst,dst', '-j KUBE-MARK-MASQ');
  if (input.localDetector) return rule('dst,dst', `${localMatch(input.localDetector, true)} -j KUBE-MARK-MASQ`);
  // What comes from a cluster IP is the node's own, whose route to it has that address as its source.
  return rule('src,dst', '-j KUBE-MARK-MASQ');
}

function externalIPRules(input: RuleInput): readonly string[] {
  const outside = '-m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL -j ACCEPT';
  const toNode = '-m addrtype --dst-type LOCAL -j ACCEPT';
  const rule = (set: SetKey, rest: string) => commented(input, 'KUBE-SERVICES', set, 'dst,dst', rest);
  return [
    ...rule('externalIP', '-j KUBE-MARK-MASQ'),
    ...rule('externalIP', outside),
    ...rule('externalIP', toNode),
    ...rule('externalIPLocal', outside),
    ...rule('externalIPLocal', toNode),
  ];
}

function filterRules(input: RuleInput): readonly string[] {
  const { family, drops } = input;
  const mark = markText(input.masqueradeMark);
  const name = (set: SetKey) => setName(set, family);
  const services = ['loadBalancer', 'clusterIP', 'externalIP', 'externalIPLocal'] as const;
  const health = name('healthCheckNodePort');
  return [
    ...commented(input, 'KUBE-PROXY-FIREWALL', 'loadBalancerFirewall', 'dst,dst', '-j KUBE-SOURCE-RANGES-FIREWALL'),
    ...commented(input, 'KUBE-SOURCE-RANGES-FIREWALL', 'loadBalancerSourceCIDR', 'dst,dst,src', '-j RETURN'),
    ...commented(input, 'KUBE-SOURCE-RANGES-FIREWALL', 'loadBalancerSourceIP', 'dst,dst,src', '-j RETURN'),
    '-A KUBE-SOURCE-RANGES-FIREWALL -j DROP',
    ...drops.map(dropRule),
    `-A KUBE-FORWARD -m comment --comment "kubernetes forwarding rules" -m mark --mark ${mark}/${mark} -j ACCEPT`,
    '-A KUBE-FORWARD -m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    `-A KUBE-NODE-PORT -m comment --comment "${SETS.healthCheckNodePort.comment}" -m set --match-set ${health} dst -j ACCEPT`,
    ...services.map(set => `-A KUBE-IPVS-FILTER -m set --match-set ${name(set)} dst,dst -j RETURN`),
    `-A KUBE-IPVS-FILTER -m set --match-set ${health} dst -j RETURN`,
    // The addresses of Services are this machine's own, so without this its ports would answer at them too.
    `-A KUBE-IPVS-FILTER -m conntrack --ctstate NEW -m set --match-set ${name('ipvsIPs')} dst -j REJECT`,
  ];
}

function dropRule({ ip, protocol, port }: Drop): string {
  const vproto = protocol.toLowerCase();
  return `-A KUBE-IPVS-OUT-FILTER -s ${ip} -m ipvs --vaddr ${ip} --vproto ${vproto} --vport ${port} -j DROP`;
}

/** A rule that matches a set and says why; none if the set is empty. */
function commented(input: RuleInput, chain: string, set: SetKey, match: string, rest: string): readonly string[] {
  if (!input.used.has(set)) return [];
  const { comment } = SETS[set];
  return [
    `-A ${chain} -m comment --comment "${comment}" -m set --match-set ${setName(set, input.family)} ${match} ${rest}`,
  ];
}

function accepted(input: RuleInput, set: SetKey): readonly string[] {
  if (!input.used.has(set)) return [];
  return [`-A KUBE-SERVICES -m set --match-set ${setName(set, input.family)} dst,dst -j ACCEPT`];
}
