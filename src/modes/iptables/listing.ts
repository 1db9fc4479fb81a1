import { quoteRule } from '../../kernel/iptables/index.ts';
import { appendTo } from '../../lib/append-to.ts';
import { Breaks } from '../../lib/breaks.ts';
import { planName, type ServicePortPlan } from '../../plan/index.ts';
import { builtInBlocks, chainBlock, ruleLine } from '../iptables-blocks.ts';
import type { ListedLine, Listing } from '../listing.ts';
import { arrangeListing, type DraftBlock, MAX_SERVICE_LINES } from '../listing-order.ts';
import { CANARY_TABLES } from './chains/jumps-and-canaries.ts';
import { Chain } from './names.ts';
import type { CommittedRules } from './rules/committed-rules.ts';
import {
  filterChains,
  filterRulesAfter,
  filterRulesBefore,
  JUMPS,
  NAT_FIXED_CHAINS,
  natFixedRules,
  nodePortRules,
  SHARED_CHAINS,
  type Table,
} from './rules/fixed-rules.ts';
import type { RenderInput } from './rules/render-input.ts';
import { chainOfRule } from './rules/restore-text.ts';
import type { RuleOptions } from './rules/rule-options.ts';
import { type OwnChains, ownChains } from './rules/service-chains.ts';
import { contestedRules, type SharedRules, sharedRules } from './rules/service-rules.ts';

export interface ListingInput {
  readonly options: RuleOptions;
  /** Of one Service, or none. */
  readonly inputs: readonly RenderInput[];
  readonly counts: CommittedRules['counts'];
}

/** What the chains are for that do not belong to one service port, by table and name. */
const ABOUT: Readonly<Record<string, string>> = {
  [`nat ${Chain.SERVICES}`]:
    'Finds the Service of a new connection by its destination, one rule for each address and port.',
  [`nat ${Chain.NODEPORTS}`]: 'Finds the Service of a node port.',
  [`nat ${Chain.POSTROUTING}`]: 'Gives marked connections the address of this node.',
  [`nat ${Chain.MARK_MASQ}`]: 'Marks a connection that should leave with the address of this node.',
  [`filter ${Chain.SERVICES}`]: 'Rejects connections to cluster IPs of Services without usable endpoints.',
  [`filter ${Chain.EXTERNAL_SERVICES}`]: 'Rejects or drops connections from outside that no endpoint can serve.',
  [`filter ${Chain.FORWARD}`]:
    'Lets connections through that this proxy has sent on, and drops packets of no connection.',
  [`filter ${Chain.NODEPORTS}`]: 'Lets health checks of load balancers through to this node.',
  [`filter ${Chain.PROXY_FIREWALL}`]:
    'Drops connections to load-balancer IPs from sources that the Service does not allow.',
  [`filter ${Chain.FIREWALL}`]:
    'Drops packets from outside to loopback addresses, which node ports at localhost make reachable.',
};

const ABOUT_CANARY = 'Always empty. If it is gone, another program has flushed the table, and the proxy writes again.';

/** What the chains of a service port are for, by how their names begin. */
const ABOUT_OWN: readonly (readonly [prefix: string, about: string])[] = [
  ['KUBE-SVC-', 'Picks one of all usable endpoints: for policy Cluster.'],
  ['KUBE-SVL-', 'Picks one of the usable endpoints on this node: for policy Local.'],
  [
    'KUBE-EXT-',
    'Takes connections from outside, marks them where their policy wants it, and goes on to the endpoints.',
  ],
  ['KUBE-FW-', 'Lets the allowed sources of a load-balancer IP go on.'],
  ['KUBE-SEP-', 'Sends the connection to one endpoint.'],
];

interface RenderedPlan {
  readonly plan: ServicePortPlan;
  readonly shared: SharedRules;
  readonly contested: SharedRules;
  readonly own: OwnChains;
}

/** The chains of one family, with the rules of one Service. */
export async function listIptables({ options, inputs, counts }: ListingInput): Promise<Listing> {
  const { family } = options;
  const rendered: RenderedPlan[] = [];
  const own: DraftBlock[] = [];
  const breaks = new Breaks();
  for (const { plan, withComments } of inputs) {
    const [shared, contested] = [sharedRules(plan, options), contestedRules(plan, options)];
    const port = { plan, shared, contested, own: ownChains(plan, options, withComments) };
    rendered.push(port);
    own.push(...(await ownBlocks(options, port, breaks)));
  }
  const jumps = JUMPS.map(({ table, from, rule }) => ({ table, from, rule: quoteRule(rule) }));
  return arrangeListing({
    blocks: [...builtInBlocks(family, jumps), ...commonBlocks(options, rendered, counts), ...own],
    notListed: [{ what: 'rules in chains of other Services', count: otherRules(options, rendered, counts) }],
    rest: 'to notice changes',
  });
}

function commonBlocks(
  options: RuleOptions,
  rendered: readonly RenderedPlan[],
  counts: ListingInput['counts'],
): readonly DraftBlock[] {
  const chains = {
    filter: new Set([...filterChains(options), Chain.FIREWALL]),
    nat: [...SHARED_CHAINS.nat, ...NAT_FIXED_CHAINS],
  };
  const blocks = (['filter', 'nat'] as const).flatMap(table => {
    const lines = linesByChain(table, options, rendered);
    return Array.from(chains[table], chain => {
      const own = lines.get(chain) ?? [];
      const fixed = own.filter(({ service }) => service === undefined).length;
      const about = ABOUT[`${table} ${chain}`];
      const total = SHARED_CHAINS[table].includes(chain) ? counts.inSharedChain(table, chain) + fixed : own.length;
      return chainBlock(options.family, { table, chain, about, lines: own, total });
    });
  });
  const canaries = CANARY_TABLES.map(table =>
    chainBlock(options.family, { table, chain: Chain.CANARY, about: ABOUT_CANARY, lines: [] }),
  );
  return [...blocks, ...canaries];
}

/** In the order in which a full write has them: contested rules stand behind all others. */
function linesByChain(
  table: Table,
  options: RuleOptions,
  rendered: readonly RenderedPlan[],
): ReadonlyMap<string, readonly ListedLine[]> {
  const lines = new Map<string, ListedLine[]>();
  const add = (rules: readonly string[], service?: string) => {
    for (const rule of rules) appendTo(lines, chainOfRule(rule), ruleLine(table, rule, service));
  };
  add(table === 'filter' ? filterRulesBefore(options) : natFixedRules(options));
  for (const { plan, shared } of rendered) add(shared[table], plan.service);
  for (const { plan, contested } of rendered) add(contested[table], plan.service);
  add(table === 'filter' ? filterRulesAfter(options) : nodePortRules(options));
  return lines;
}

async function ownBlocks(
  { family }: RuleOptions,
  { plan, own }: RenderedPlan,
  breaks: Breaks,
): Promise<readonly DraftBlock[]> {
  const lines = new Map<string, ListedLine[]>();
  const totals = new Map<string, number>();
  for (const [i, rule] of own.rules.entries()) {
    const chain = chainOfRule(rule);
    totals.set(chain, (totals.get(chain) ?? 0) + 1);
    // The listing is cut anyway. More lines would only cost time: each endpoint has three rules and a chain.
    if (i < 2 * MAX_SERVICE_LINES) appendTo(lines, chain, ruleLine('nat', rule, plan.service));
    if (breaks.isDue) await breaks.take();
  }
  return Array.from(lines, ([chain, listed]) =>
    chainBlock(family, {
      table: 'nat',
      chain,
      about: ABOUT_OWN.find(([prefix]) => chain.startsWith(prefix))?.[1],
      lines: listed,
      total: totals.get(chain),
      servicePort: planName(plan),
    }),
  );
}

function otherRules(options: RuleOptions, rendered: readonly RenderedPlan[], counts: ListingInput['counts']): number {
  const shared = SHARED_CHAINS.nat.reduce((sum, chain) => sum + counts.inSharedChain('nat', chain), 0);
  const fixed = natFixedRules(options).length + nodePortRules(options).length;
  const own = rendered.reduce((sum, port) => sum + port.own.rules.length, 0);
  return counts.total('nat') - shared - fixed - own;
}
