import type { LocalDetector } from '../../../model/index.ts';
import type { Family } from '../../../net/index.ts';
import { localMatch, markText } from '../../iptables-words.ts';
import type { ModeSettings } from '../../mode.ts';
import { CHAINS, SET_KEYS, SETS, type SetKey, setName, TABLES, type Table } from '../names.ts';
import type { Drop } from '../render.ts';
import type { WantedObjects } from '../wanted/wanted-objects.ts';
import { type Jump, jumpRule } from './jumps.ts';

/** What the rules depend on. Services are in sets, so there are few rules, and they change rarely. */
export interface RuleInput {
  readonly family: Family;
  readonly masqueradeAll: boolean;
  readonly masqueradeMark: number;
  readonly localDetector: LocalDetector | undefined;
  /** The iptables programs support `--random-fully`. */
  readonly randomFully: boolean;
  /** The sets that are not empty. */
  readonly used: ReadonlySet<SetKey>;
  readonly drops: readonly Drop[];
}

export function ruleInput(
  family: Family,
  wanted: WantedObjects,
  {
    localDetector,
    masqueradeAll,
    masqueradeMark,
  }: Pick<ModeSettings, 'localDetector' | 'masqueradeAll' | 'masqueradeMark'>,
  randomFully: boolean,
): RuleInput {
  const used = new Set(SET_KEYS.filter(set => !wanted.isEmpty(set)));
  return { family, localDetector, masqueradeAll, masqueradeMark, randomFully, used, drops: wanted.drops() };
}

/** One rule, and the chain that it is appended to. */
export interface Rule {
  readonly chain: string;
  /** What follows the name of the chain. */
  readonly text: string;
}

/** The rules of each table, in the order in which the mode writes them. */
export function rulesOf(input: RuleInput): Readonly<Record<Table, readonly Rule[]>> {
  return { nat: natRules(input), filter: filterRules(input) };
}

/** The text for iptables-restore. `jumps`: the jumps that are missing. */
export function restoreText(input: RuleInput, jumps: readonly Jump[]): string {
  const rules = rulesOf(input);
  const lines = TABLES.flatMap(table => [
    `*${table}`,
    ...CHAINS[table].map(chain => `:${chain} - [0:0]`),
    ...jumps.filter(jump => jump.table === table).map(jump => `-I ${jump.from} ${jumpRule(jump)}`),
    ...rules[table].map(({ chain, text }) => `-A ${chain} ${text}`),
    'COMMIT',
  ]);
  return `${lines.join('\n')}\n`;
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

function natRules(input: RuleInput): readonly Rule[] {
  const { family, masqueradeMark, randomFully } = input;
  const mark = markText(masqueradeMark);
  return [
    rule('KUBE-SERVICES', `-s ${family === 'IPv4' ? '127.0.0.0/8' : '::1/128'} -j RETURN`),
    // A connection of an endpoint to itself has no mark, so this rule comes before the rule that tests the mark.
    ...forSet(input, 'KUBE-POSTROUTING', 'loopBack', 'dst,dst,src', '-j MASQUERADE'),
    ...forSet(input, 'KUBE-SERVICES', 'loadBalancer', 'dst,dst', '-j KUBE-LOAD-BALANCER'),
    ...forSet(input, 'KUBE-LOAD-BALANCER', 'loadBalancerLocal', 'dst,dst', '-j RETURN'),
    ...nodePortRules(input),
    ...clusterIPRules(input),
    ...externalIPRules(input),
    rule('KUBE-SERVICES', '-m addrtype --dst-type LOCAL -j KUBE-NODE-PORT'),
    rule('KUBE-LOAD-BALANCER', '-j KUBE-MARK-MASQ'),
    ...accepting(input, 'clusterIP'),
    ...accepting(input, 'loadBalancer'),
    rule('KUBE-POSTROUTING', `-m mark ! --mark ${mark}/${mark} -j RETURN`),
    // Without the mark, a packet that passes again is not masqueraded twice.
    rule('KUBE-POSTROUTING', `-j MARK --xor-mark ${mark}`),
    rule(
      'KUBE-POSTROUTING',
      `-m comment --comment "kubernetes service traffic requiring SNAT" -j MASQUERADE${randomFully ? ' --random-fully' : ''}`,
    ),
    rule('KUBE-MARK-MASQ', `-j MARK --or-mark ${mark}`),
  ];
}

/** Policy Local comes first, because its ports are in both sets and must not be masqueraded. */
function nodePortRules(input: RuleInput): readonly Rule[] {
  const own = (protocol: string, set: SetKey, match: string, target: string) =>
    forSet(input, 'KUBE-NODE-PORT', set, match, `-j ${target}`, `-p ${protocol} `);
  return [
    ...own('tcp', 'nodePortLocalTCP', 'dst', 'RETURN'),
    ...own('tcp', 'nodePortTCP', 'dst', 'KUBE-MARK-MASQ'),
    ...own('udp', 'nodePortLocalUDP', 'dst', 'RETURN'),
    ...own('udp', 'nodePortUDP', 'dst', 'KUBE-MARK-MASQ'),
    ...own('sctp', 'nodePortLocalSCTP', 'dst,dst', 'RETURN'),
    ...own('sctp', 'nodePortSCTP', 'dst,dst', 'KUBE-MARK-MASQ'),
  ];
}

function clusterIPRules(input: RuleInput): readonly Rule[] {
  const own = (match: string, rest: string) => forSet(input, 'KUBE-SERVICES', 'clusterIP', match, rest);
  if (input.masqueradeAll) return own('dst,dst', '-j KUBE-MARK-MASQ');
  if (input.localDetector) return own('dst,dst', `${localMatch(input.localDetector, true)} -j KUBE-MARK-MASQ`);
  // A packet from a cluster IP comes from the node itself: its route to the cluster IP has that source address.
  return own('src,dst', '-j KUBE-MARK-MASQ');
}

function externalIPRules(input: RuleInput): readonly Rule[] {
  const fromOutside = '-m physdev ! --physdev-is-in -m addrtype ! --src-type LOCAL -j ACCEPT';
  const toNode = '-m addrtype --dst-type LOCAL -j ACCEPT';
  const own = (set: SetKey, rest: string) => forSet(input, 'KUBE-SERVICES', set, 'dst,dst', rest);
  return [
    ...own('externalIP', '-j KUBE-MARK-MASQ'),
    ...own('externalIP', fromOutside),
    ...own('externalIP', toNode),
    ...own('externalIPLocal', fromOutside),
    ...own('externalIPLocal', toNode),
  ];
}

function filterRules(input: RuleInput): readonly Rule[] {
  const { family, drops } = input;
  const mark = markText(input.masqueradeMark);
  const name = (set: SetKey) => setName(set, family);
  const services = ['loadBalancer', 'clusterIP', 'externalIP', 'externalIPLocal'] as const;
  const health = name('healthCheckNodePort');
  return [
    ...forSet(input, 'KUBE-PROXY-FIREWALL', 'loadBalancerFirewall', 'dst,dst', '-j KUBE-SOURCE-RANGES-FIREWALL'),
    ...forSet(input, 'KUBE-SOURCE-RANGES-FIREWALL', 'loadBalancerSourceCIDR', 'dst,dst,src', '-j RETURN'),
    ...forSet(input, 'KUBE-SOURCE-RANGES-FIREWALL', 'loadBalancerSourceIP', 'dst,dst,src', '-j RETURN'),
    rule('KUBE-SOURCE-RANGES-FIREWALL', '-j DROP'),
    ...drops.map(dropRule),
    rule('KUBE-FORWARD', `-m comment --comment "kubernetes forwarding rules" -m mark --mark ${mark}/${mark} -j ACCEPT`),
    rule(
      'KUBE-FORWARD',
      '-m comment --comment "kubernetes forwarding conntrack rule" -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
    ),
    rule(
      'KUBE-NODE-PORT',
      `-m comment --comment "${SETS.healthCheckNodePort.comment}" -m set --match-set ${health} dst -j ACCEPT`,
    ),
    ...services.map(set => rule('KUBE-IPVS-FILTER', `-m set --match-set ${name(set)} dst,dst -j RETURN`)),
    rule('KUBE-IPVS-FILTER', `-m set --match-set ${health} dst -j RETURN`),
    // The addresses of Services are the machine's own. Without this rule the machine's ports would answer there too.
    rule('KUBE-IPVS-FILTER', `-m conntrack --ctstate NEW -m set --match-set ${name('ipvsIPs')} dst -j REJECT`),
  ];
}

function dropRule({ ip, protocol, port }: Drop): Rule {
  const vproto = protocol.toLowerCase();
  return rule('KUBE-IPVS-OUT-FILTER', `-s ${ip} -m ipvs --vaddr ${ip} --vproto ${vproto} --vport ${port} -j DROP`);
}

/** A rule that matches a set, with the comment of the set. There is no rule if the set is empty. */
function forSet(
  input: RuleInput,
  chain: string,
  set: SetKey,
  match: string,
  rest: string,
  first = '',
): readonly Rule[] {
  if (!input.used.has(set)) return [];
  const { comment } = SETS[set];
  const name = setName(set, input.family);
  return [rule(chain, `${first}-m comment --comment "${comment}" -m set --match-set ${name} ${match} ${rest}`)];
}

function accepting(input: RuleInput, set: SetKey): readonly Rule[] {
  if (!input.used.has(set)) return [];
  return [rule('KUBE-SERVICES', `-m set --match-set ${setName(set, input.family)} dst,dst -j ACCEPT`)];
}

function rule(chain: string, text: string): Rule {
  return { chain, text };
}
