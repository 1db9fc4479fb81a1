import {
  type Element,
  printElementOf,
  printListedChain,
  printSetBody,
  type SetOrMap,
  type Table,
} from '../../kernel/nftables/index.ts';
import { alignLists } from '../../lib/align-lists.ts';
import { ipFromBytes } from '../../net/index.ts';
import { reachableEndpoints, type ServicePortPlan } from '../../plan/index.ts';
import {
  type KernelEntry,
  type KernelReading,
  MAX_PINNED_CLIENTS,
  type PinnedClient,
  ReadBudget,
} from '../read-back.ts';
import { endpointSlots, frontendKeys, type Slots } from './kernel-state/frontend-keys.ts';
import type { TableLookups } from './kernel-state/table-lookups.ts';
import { elementIdentity } from './kernel-state/use-counts.ts';
import { type Placed, type Rendered, render } from './render.ts';
import { type ChainRules, ruleText } from './table/chain-rules.ts';
import { type FixedOptions, nodePortElements, protocolElements } from './table/fixed.ts';
import { type Layout, TABLE } from './table/layout.ts';
import { affinitySet } from './table/own-chains.ts';
import { rejectChains, steeringChains } from './table/program.ts';
import type { RenderContext } from './table/shared-chains.ts';
import type { SlotTable } from './table/slot-table.ts';

export interface ReadBackInput {
  readonly context: RenderContext;
  readonly options: FixedOptions;
  readonly lookups: TableLookups;
  readonly plan: ServicePortPlan;
  readonly budget?: ReadBudget;
}

/** Foreign rules of one chain beyond this number are not read. */
const MAX_EXTRA_RULES = 100;
const MAX_EXTRA_SLOTS = 100;

/** Reads what the table has for one service port: its elements and chains, and the chains on its way. */
export async function readBackNftables(input: ReadBackInput): Promise<KernelReading> {
  const reading = new Reading(input);
  await reading.run();
  return reading;
}

class Reading implements KernelReading {
  readonly entries: KernelEntry[] = [];
  readonly affinity: PinnedClient[] = [];
  incomplete: string | undefined;
  readonly #input: ReadBackInput;
  readonly #layout: Layout;
  readonly #rendered: Rendered;
  readonly #budget: ReadBudget;

  constructor(input: ReadBackInput) {
    this.#input = input;
    this.#layout = input.context.layout;
    this.#rendered = render(input.context, input.plan);
    this.#budget = input.budget ?? new ReadBudget();
  }

  async run(): Promise<void> {
    // Without a table nothing else exists. To name all of it would hide the reason.
    if (!this.#table()) return;
    await this.#elements();
    await this.#chains();
    for (const table of this.#rendered.tables) await this.#slots(table);
    await this.#affinity();
    this.incomplete ??= this.#budget.spent;
  }

  #table(): boolean {
    const { nft } = this.#layout;
    const table = this.#input.lookups.table();
    const wanted = tableText({ kind: 'table', family: nft, name: TABLE });
    this.entries.push({ kind: 'table', place: 'ruleset', wanted, found: table && tableText(table) });
    return table !== undefined;
  }

  async #elements(): Promise<void> {
    const wanted = new Map<string, Placed>();
    for (const placed of [...this.#rendered.elements, ...fixedElements(this.#input)]) {
      wanted.set(elementIdentity(placed.set, placed.element.key), placed);
    }
    for (const { set, element } of wanted.values()) {
      if (!(await this.#budget.spend())) return;
      this.#element(set, element, this.#input.lookups.element(set, element.key));
    }
    for (const { set, key } of frontendKeys(this.#layout, this.#input.plan)) {
      if (wanted.has(elementIdentity(set, key))) continue;
      if (!(await this.#budget.spend())) return;
      this.#element(set, undefined, this.#input.lookups.element(set, key));
    }
    for (const slots of endpointSlots(this.#layout, this.#input.plan)) await this.#extraSlots(slots, wanted);
  }

  /** Slots are numbered without gaps, so an extra one follows the last that is wanted. */
  async #extraSlots({ set, key }: Slots, wanted: ReadonlyMap<string, Placed>): Promise<void> {
    for (let slot = 0; ; slot++) {
      const slotKey = key(slot);
      if (wanted.has(elementIdentity(set, slotKey))) continue;
      if (!(await this.#budget.spend())) return;
      const found = this.#input.lookups.element(set, slotKey);
      if (!found) return;
      this.#element(set, undefined, found);
    }
  }

  #element(set: SetOrMap, wanted: Element | undefined, found: Element | undefined): void {
    if (!wanted && !found) return;
    const counted = found?.counter && Number(found.counter.packets);
    this.entries.push({
      kind: 'element',
      place: `${set.kind} ${this.#layout.nft} ${TABLE} ${set.name}`,
      wanted: wanted && elementText(set, wanted),
      found: found && elementText(set, found),
      ...(counted !== undefined && { counted }),
    });
  }

  async #chains(): Promise<void> {
    for (const chain of chainsOnTheWay(this.#input, this.#rendered)) {
      if (!(await this.#budget.spend())) return;
      this.#chain(chain);
    }
  }

  #chain({ chain, rules }: ChainRules): void {
    const { lookups } = this.#input;
    const { nft } = this.#layout;
    const listed = lookups.chain(chain.name);
    const place = `table ${nft} ${TABLE}`;
    this.entries.push({
      kind: 'chain',
      place,
      wanted: printListedChain(chain),
      found: listed && printListedChain(listed),
    });
    // The rules of a missing chain are missing with it.
    if (!listed) return;
    const limit = rules.length + MAX_EXTRA_RULES;
    const found = lookups.rules(chain.name, limit);
    if (found.length === limit) this.incomplete = `the mode read only ${limit} rules of chain ${chain.name}`;
    const texts = (list: ChainRules['rules']) => list.map(rule => ruleText(this.#layout, rule));
    for (const { left, right } of alignLists(texts(rules), texts(found))) {
      this.entries.push({ kind: 'rule', place: `chain ${nft} ${TABLE} ${chain.name}`, wanted: left, found: right });
    }
  }

  /**
   * A table has thousands of slots. Only those that differ become entries. While the kernel moves a map that grew to
   * more memory, it leaves elements out of a list, so the reading looks for each one that the list lacks.
   */
  async #slots(table: SlotTable): Promise<void> {
    if (!(await this.#budget.spend())) return;
    const map = this.#set(table.map);
    if (!map) return;
    const limit = table.slots.length + MAX_EXTRA_SLOTS;
    const listed = this.#input.lookups.elements(map, limit);
    if (listed.length === limit) this.incomplete = `the mode read only ${limit} elements of map ${map.name}`;
    const found = new Map(listed.map(element => [elementIdentity(map, element.key), element]));
    for (const wanted of table.elements()) {
      const identity = elementIdentity(map, wanted.key);
      const inList = found.get(identity);
      found.delete(identity);
      if (!inList && !(await this.#budget.spend())) return;
      const element = inList ?? this.#input.lookups.element(map, wanted.key);
      if (!element || !wanted.data || !element.data?.equals(wanted.data)) this.#element(map, wanted, element);
    }
    for (const element of found.values()) this.#element(map, undefined, element);
  }

  #set(wanted: SetOrMap): SetOrMap | undefined {
    const found = this.#input.lookups.set(wanted.name);
    const place = `table ${this.#layout.nft} ${TABLE}`;
    this.entries.push({ kind: 'set', place, wanted: setText(wanted), found: found && setText(found) });
    return found;
  }

  async #affinity(): Promise<void> {
    const { plan } = this.#input;
    if (plan.port.affinitySeconds === 0) return;
    for (const endpoint of reachableEndpoints(plan.endpoints)) {
      if (!(await this.#budget.spend())) return;
      const found = this.#set(affinitySet(this.#layout, plan, endpoint));
      if (found) this.#pinned(found, endpoint.text);
    }
  }

  #pinned(set: SetOrMap, endpoint: string): void {
    const room = MAX_PINNED_CLIENTS - this.affinity.length;
    const elements = this.#input.lookups.elements(set, room + 1);
    if (elements.length > room) this.incomplete = `the mode read only ${MAX_PINNED_CLIENTS} pinned clients`;
    for (const { key, expires = 0 } of elements.slice(0, room)) {
      const client = ipFromBytes(key);
      if (client) this.affinity.push({ client, endpoint, secondsLeft: Math.ceil(expires / 1000) });
    }
  }
}

/** Elements that depend on no Service, but without which its node port does not work. */
function fixedElements({ context: { layout }, options, plan }: ReadBackInput): Placed[] {
  if (!plan.frontends.some(({ kind }) => kind === 'NodePort')) return [];
  const { nodePortIPs, localhostRejectedPackets: counters } = layout;
  const addresses = options.nodePortAddresses.matchAll ? [] : nodePortElements(layout, options);
  return [
    ...addresses.map(element => ({ set: nodePortIPs, element })),
    ...(counters ? protocolElements(counters).map(element => ({ set: counters, element })) : []),
  ];
}

/** The chains that steer all packets, and those that the elements of this service port lead to. */
function chainsOnTheWay({ context, options }: ReadBackInput, { elements, chains }: Rendered): readonly ChainRules[] {
  const targets = new Set(
    elements.map(({ element: { verdict } }) => (verdict && 'chain' in verdict ? verdict.chain : '')),
  );
  const rejects = rejectChains(context.layout).filter(({ chain }) => targets.has(chain.name));
  return [...steeringChains(context.layout, options), ...rejects, ...chains];
}

function tableText({ family, name, dormant }: Table): string {
  return `table ${family} ${name}${dormant ? ' { flags dormant; }' : ''}`;
}

/** The counter is no part of what the mode wants. */
function elementText(set: SetOrMap, { counter: _counter, ...element }: Element): string {
  return printElementOf(set, element, 'whole');
}

/** Without what the mode leaves as it finds it. */
function setText(set: SetOrMap): string {
  const { kind, name, type, flags = [], timeout = 0 } = set;
  const kept = { name, type, flags, timeout };
  const body = set.kind === 'map' ? { kind: set.kind, data: set.data, ...kept } : { kind: set.kind, ...kept };
  return `${kind} ${name}${printSetBody(body)}`;
}
