import type { Chain, Element, Hook, SetOrMap } from '../../kernel/nftables/index.ts';
import { Breaks } from '../../lib/breaks.ts';
import { planName, type ServicePortPlan } from '../../plan/index.ts';
import type { ListedLine, Listing } from '../listing.ts';
import { arrangeListing, type DraftBlock } from '../listing-order.ts';
import {
  chainIdentity,
  elementIdentity,
  sizeIdentity,
  USED_CHAINS,
  type UseCounts,
} from './kernel-state/use-counts.ts';
import type { LocalhostSync } from './localhost/localhost-listeners.ts';
import { servicePortBase } from './names.ts';
import { type Rendered, render } from './render.ts';
import { aboutChain, aboutSet } from './table/about.ts';
import type { ChainRules } from './table/chain-rules.ts';
import { cidrElements, type FixedOptions, fixedChains, nodePortElements, protocolElements } from './table/fixed.ts';
import { fixedSets, type Layout, TABLE } from './table/layout.ts';
import { elementParts, ruleParts } from './table/linked-lines.ts';
import { hasOwnPicks } from './table/own-picks.ts';
import { permanentPicks, type RenderContext, slotChainName } from './table/shared-chains.ts';

export interface ListingInput {
  readonly context: RenderContext;
  readonly options: FixedOptions;
  /** Of one Service, or none. */
  readonly plans: readonly ServicePortPlan[];
  readonly useCounts: Pick<UseCounts, 'count'>;
  /** Undefined if this process does not listen at loopback addresses. */
  readonly localhost: Pick<LocalhostSync, 'entries' | 'counts'> | undefined;
}

/** The hooks in the order in which a packet that the node forwards meets them. */
const HOOKS: readonly Hook[] = ['prerouting', 'input', 'forward', 'output', 'postrouting'];

/** A hash has thousands of slots, and the listing shows the first of them. */
const MAX_SLOT_LINES = 200;

/** The table of one family: chains, maps and sets, with the elements and chains of one Service. */
export async function listNftables(input: ListingInput): Promise<Listing> {
  const { context, options, plans, useCounts } = input;
  const { layout } = context;
  const blocks = new TableBlocks(layout, useCounts);
  for (const chain of byHook(fixedChains(layout, options))) blocks.addChain(chain, undefined);
  for (const chain of permanentPicks(layout)) blocks.addChain(chain, undefined);
  const breaks = new Breaks();
  for (const plan of plans) await blocks.addPlan(plan, render(context, plan), breaks);
  blocks.addSets(fixedElements(layout, options));
  return arrangeListing({
    blocks: [...blocks.list, ...listeners(input)],
    notListed: [{ what: 'chains of other Services', count: useCounts.count(USED_CHAINS) - blocks.usedChains }],
    rest: 'reached through maps',
  });
}

function byHook(chains: readonly ChainRules[]): readonly ChainRules[] {
  const rank = ({ chain: { base } }: ChainRules) =>
    base ? HOOKS.indexOf(base.hook) * 1000 + base.priority : Number.POSITIVE_INFINITY;
  return chains.toSorted((a, b) => rank(a) - rank(b) || 0);
}

function fixedElements(layout: Layout, options: FixedOptions): ReadonlyMap<SetOrMap, readonly Element[]> {
  const { nodePortIPs, serviceCIDRs, localhostRejectedPackets: counters } = layout;
  return new Map<SetOrMap, readonly Element[]>([
    [nodePortIPs, nodePortElements(layout, options)],
    [serviceCIDRs, cidrElements(layout, options.serviceCIDRs)],
    ...(counters ? [[counters, protocolElements(counters)] as const] : []),
  ]);
}

class TableBlocks {
  readonly list: DraftBlock[] = [];
  /** How many of the chains that service ports use are listed. */
  usedChains = 0;
  readonly #layout: Layout;
  readonly #useCounts: Pick<UseCounts, 'count'>;
  readonly #chainNames = new Set<string>();
  readonly #elements = new Map<string, Map<string, ListedLine>>();

  constructor(layout: Layout, useCounts: Pick<UseCounts, 'count'>) {
    this.#layout = layout;
    this.#useCounts = useCounts;
  }

  async addPlan(plan: ServicePortPlan, rendered: Rendered, breaks: Breaks): Promise<void> {
    const { chains, sets, elements, tables } = rendered;
    for (const { set, element } of elements) {
      this.#addElement(set, element, plan.service);
      if (breaks.isDue) await breaks.take();
    }
    for (const table of tables) {
      for (const element of table.elements(MAX_SLOT_LINES)) this.#addElement(table.map, element, plan.service);
    }
    for (const chain of chains) {
      const { name } = chain.chain;
      if (this.#chainNames.has(name)) continue;
      if (this.#useCounts.count(chainIdentity(name)) > 0) this.usedChains++;
      this.addChain(chain, isOwnChain(plan, name) ? plan : undefined);
    }
    for (const set of sets) {
      const total = tables.find(({ map }) => map === set)?.slots.length;
      this.list.push({ ...this.#setBlock(set), servicePort: planName(plan), total });
    }
  }

  /** `owner`: undefined if several service ports may use the chain. */
  addChain({ chain, rules }: ChainRules, owner: ServicePortPlan | undefined): void {
    this.#chainNames.add(chain.name);
    this.list.push({
      ...this.#named('chain', chain.name),
      about: aboutChain(chain.name),
      lines: rules.map(rule => ({ parts: ruleParts(this.#layout, rule), ...(owner && { service: owner.service }) })),
      ...(owner && { servicePort: planName(owner) }),
      ...(chain.base && { group: chain.base.hook, head: baseText(chain.base) }),
    });
  }

  /** The sets and maps that always exist. */
  addSets(fixed: ReadonlyMap<SetOrMap, readonly Element[]>): void {
    for (const set of fixedSets(this.#layout)) {
      const own = fixed.get(set) ?? [];
      for (const element of own) this.#addElement(set, element, undefined);
      const total = own.length + this.#useCounts.count(sizeIdentity(set.name));
      this.list.push({ ...this.#setBlock(set), total });
    }
  }

  #addElement(set: SetOrMap, element: Element, service: string | undefined): void {
    const lines = this.#elements.get(set.name) ?? new Map<string, ListedLine>();
    this.#elements.set(set.name, lines);
    const parts = elementParts(this.#layout, set, element);
    lines.set(elementIdentity(set, element.key), { parts, ...(service !== undefined && { service }) });
  }

  #setBlock(set: SetOrMap): DraftBlock {
    const lines = [...(this.#elements.get(set.name)?.values() ?? [])];
    return { ...this.#named(set.kind, set.name), about: aboutSet(set.name), head: setText(set), lines };
  }

  #named(kind: 'chain' | SetOrMap['kind'], name: string): Pick<DraftBlock, 'id' | 'kind' | 'name' | 'command'> {
    return { id: `${kind} ${name}`, kind, name, command: `nft list ${kind} ${this.#layout.nft} ${TABLE} ${name}` };
  }
}

/** Without pick chains of its own, a service port shares all chains but that of its source ranges. */
function isOwnChain(plan: ServicePortPlan, chain: string): boolean {
  const isShared = chain === slotChainName('cluster') || chain === slotChainName('local');
  return (hasOwnPicks(plan) && !isShared) || chain === `firewall-${servicePortBase(plan)}`;
}

function baseText({ type, hook, priority }: NonNullable<Chain['base']>): string {
  return `type ${type} hook ${hook} priority ${priority}`;
}

function setText(set: SetOrMap): string {
  const key = `type ${set.type.join(' . ')}`;
  const flags = set.flags && set.flags.length > 0 ? `; flags ${set.flags.join(',')}` : '';
  return `${key}${set.kind === 'map' ? ` : ${set.data.join(' . ')}` : ''}${flags}`;
}

/** Node ports at loopback addresses have no rules that forward: this process listens there. */
function* listeners({ localhost, plans }: ListingInput): Generator<DraftBlock> {
  if (!localhost) return;
  const lines = plans.flatMap(plan =>
    localhost
      .entries(plan)
      .flatMap(({ wanted }) => (wanted === undefined ? [] : [{ parts: [wanted], service: plan.service }])),
  );
  yield {
    id: 'listeners',
    kind: 'listeners',
    name: 'of this process',
    group: 'this process',
    about: 'The process listens at node ports on loopback addresses, and relays each connection to an endpoint.',
    command: 'ss -Hlntup',
    lines,
    total: localhost.counts?.listeners ?? lines.length,
  };
}
