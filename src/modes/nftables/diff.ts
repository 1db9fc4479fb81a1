import { type Element, type SetOrMap, Transaction } from '../../kernel/nftables/index.ts';
import type { PlanChange } from '../plan-book.ts';
import type { Leftovers } from './kernel-state/leftovers.ts';
import { type Snapshot, valueText } from './kernel-state/snapshot.ts';
import {
  chainIdentity,
  elementIdentity,
  isSharedSet,
  setIdentity,
  sizeIdentity,
  USED_CHAINS,
  type UseCounts,
} from './kernel-state/use-counts.ts';
import { type Rendered, render } from './render.ts';
import { type ChainRules, ruleText } from './table/chain-rules.ts';
import { type Layout, mapsToEndpoints, TABLE } from './table/layout.ts';
import type { RenderContext } from './table/shared-chains.ts';
import type { SlotTable } from './table/slot-table.ts';

/** A transaction, and what changes once the kernel has committed it. */
export interface Prepared {
  /**
   * Adds chains for service ports that stay. A packet that met the rules before a transaction and the elements after it
   * would find a chain of that transaction empty.
   */
  readonly beforehand: Transaction;
  readonly transaction: Transaction;
  /**
   * Removes elements that only packets on their way through the old rules still look for. A packet that found the old
   * number of endpoints before the first transaction finds the elements for it after that one.
   */
  readonly afterwards: Transaction;
  /** By how much the numbers of users change. */
  readonly useCounts: ReadonlyMap<string, number>;
  readonly released: Leftovers;
  /** Leftovers that are in use again. */
  readonly revived: ReadonlySet<string>;
}

/** What the table has besides what the use counts know. */
export interface Present {
  readonly leftovers: Leftovers;
  /** What the kernel has, if the writer has just read it. Otherwise the diff relies on what was committed. */
  readonly snapshot?: Snapshot | undefined;
}

/** The transaction that brings the table from the committed plans of the changes to the wanted ones. */
export function prepare(
  context: RenderContext,
  useCounts: UseCounts,
  present: Present,
  changes: readonly PlanChange[],
): Prepared {
  const onlyAdds = present.snapshot === undefined && changes.every(({ from }) => from === undefined);
  const hasUpdates = changes.some(({ from, to }) => from && to);
  const diff = new Diff(context.layout, useCounts, present, { onlyAdds, hasUpdates });
  for (const { from } of changes) if (from) diff.release(render(context, from));
  for (const { to } of changes) if (to) diff.acquire(render(context, to));
  return diff.finish();
}

interface Change<T> {
  old: T | undefined;
  fresh: T | undefined;
  count: number;
}

interface ElementChange extends Change<Element> {
  readonly set: SetOrMap;
}

class Diff {
  readonly #layout: Layout;
  readonly #useCounts: UseCounts;
  readonly #present: Present;
  readonly #chains = new Map<string, Change<ChainRules>>();
  readonly #sets = new Map<string, Change<SetOrMap>>();
  readonly #elements = new Map<string, ElementChange>();
  readonly #tables = new Map<string, Change<SlotTable>>();
  /** The table has nothing of these service ports, so what belongs to one of them needs no comparison. */
  readonly #onlyAdds: boolean;
  /** The maps in which packets find their way to an endpoint. Empty if no service port stays. */
  readonly #ways: ReadonlySet<string>;
  readonly #added = new Map<SetOrMap, Element[]>();

  constructor(
    layout: Layout,
    useCounts: UseCounts,
    present: Present,
    { onlyAdds, hasUpdates }: { readonly onlyAdds: boolean; readonly hasUpdates: boolean },
  ) {
    this.#layout = layout;
    this.#useCounts = useCounts;
    this.#present = present;
    this.#onlyAdds = onlyAdds;
    this.#ways = new Set(hasUpdates ? mapsToEndpoints(layout).map(({ name }) => name) : []);
  }

  release(rendered: Rendered): void {
    const { chains, sets, elements } = rendered;
    for (const chain of chains) note(this.#chains, chain.chain.name, 'old', chain);
    for (const set of sets) note(this.#sets, set.name, 'old', set);
    for (const { set, element } of elements) this.#element(set, element, 'old');
    this.#noteTables(rendered, 'old');
  }

  acquire(rendered: Rendered): void {
    const { chains, sets, elements } = rendered;
    for (const chain of chains) note(this.#chains, chain.chain.name, 'fresh', chain);
    for (const set of sets) note(this.#sets, set.name, 'fresh', set);
    this.#noteTables(rendered, 'fresh');
    for (const { set, element } of elements) {
      if (this.#onlyAdds && !isSharedSet(this.#layout, set)) append(this.#added, set, element);
      else this.#element(set, element, 'fresh');
    }
  }

  finish(): Prepared {
    const beforehand = new Transaction(this.#layout.nft, TABLE);
    const transaction = new Transaction(this.#layout.nft, TABLE);
    const early = this.#hasPacketsOnTheirWay ? beforehand : transaction;
    const revived = new Set<string>();
    const released = { chains: new Map<string, ChainRules['chain']>(), sets: new Map<string, SetOrMap>() };
    const useCounts = this.#countChanges();
    this.#finishSets(early, released.sets, revived);
    this.#finishChains({ early, transaction }, released.chains, revived);
    const afterwards = new Transaction(this.#layout.nft, TABLE);
    this.#finishElements(transaction, afterwards);
    return { beforehand, transaction, afterwards, useCounts, released, revived };
  }

  /** A comparison with what the kernel has is a start or a repair, which orders its transactions itself. */
  get #hasPacketsOnTheirWay(): boolean {
    return this.#ways.size > 0 && this.#present.snapshot === undefined;
  }

  /** Tables are compared slot by slot. What the kernel has can be compared only as elements. */
  #noteTables({ tables }: Rendered, side: 'old' | 'fresh'): void {
    for (const table of tables) {
      if (!this.#present.snapshot) note(this.#tables, table.map.name, side, table);
      else for (const element of table.elements()) this.#element(table.map, element, side);
    }
  }

  #element(set: SetOrMap, element: Element, side: 'old' | 'fresh'): void {
    const identity = elementIdentity(set, element.key);
    const known = this.#elements.get(identity);
    const change = known ?? { set, old: undefined, fresh: undefined, count: 0 };
    if (!known) this.#elements.set(identity, change);
    change[side] = element;
    change.count += side === 'old' ? -1 : 1;
  }

  #finishSets(transaction: Transaction, released: Map<string, SetOrMap>, revived: Set<string>): void {
    for (const [name, { old, fresh, count }] of this.#sets) {
      const identity = setIdentity(name);
      const before = this.#useCounts.count(identity);
      if (before + count <= 0) {
        if (old) released.set(name, old);
        continue;
      }
      if (this.#present.leftovers.sets.has(name)) revived.add(identity);
      const listed = this.#present.snapshot?.sets.get(name);
      const isThere = before > 0 || (listed !== undefined && listed.timeout === fresh?.timeout);
      // Adding a set again changes its timeout if the kernel supports that.
      if (fresh && (!isThere || (old && old.timeout !== fresh.timeout))) transaction.add(fresh);
    }
  }

  #finishChains(
    { early, transaction }: { readonly early: Transaction; readonly transaction: Transaction },
    released: Map<string, ChainRules['chain']>,
    revived: Set<string>,
  ): void {
    const rewritten: [Transaction, ChainRules][] = [];
    for (const [name, { old, fresh, count }] of this.#chains) {
      const identity = chainIdentity(name);
      const before = this.#useCounts.count(identity);
      if (before + count <= 0) {
        if (old) released.set(name, old.chain);
        continue;
      }
      const isLeftover = this.#present.leftovers.chains.has(name);
      if (isLeftover) revived.add(identity);
      if (!fresh || (before > 0 && (!old || this.#sameRules(old, fresh)))) continue;
      if (before === 0 && this.#isListed(fresh)) continue;
      const target = before > 0 ? transaction : early;
      target.add(fresh.chain);
      if (before > 0 || isLeftover || this.#present.snapshot?.chains.has(name)) target.flush(fresh.chain);
      rewritten.push([target, fresh]);
    }
    for (const [target, { rules }] of rewritten) for (const rule of rules) target.add(rule);
  }

  #sameRules(a: ChainRules, b: ChainRules): boolean {
    if (a === b) return true;
    const texts = ({ rules }: ChainRules) => rules.map(rule => ruleText(this.#layout, rule)).join('\n');
    return texts(a) === texts(b);
  }

  /** The kernel has the chain with these rules. */
  #isListed({ chain, rules }: ChainRules): boolean {
    const listed = this.#present.snapshot?.chains.get(chain.name);
    return (
      listed !== undefined &&
      listed.rules.length === rules.length &&
      rules.every((rule, i) => ruleText(this.#layout, rule) === listed.rules[i])
    );
  }

  #finishElements(transaction: Transaction, afterwards: Transaction): void {
    const gone = new Map<SetOrMap, Element[]>();
    const goneLater = new Map<SetOrMap, Element[]>();
    const added = this.#added;
    for (const [identity, change] of this.#elements) {
      const before = this.#valueBefore(identity, change);
      if (change.fresh) this.#present.snapshot?.elements.get(change.set.name)?.markWanted(change.fresh);
      const after = this.#valueAfter(identity, change);
      if (before === after) continue;
      const element = change.fresh ?? change.old;
      const isLater = after === undefined && this.#ways.has(change.set.name);
      if (before !== undefined && element) append(isLater ? goneLater : gone, change.set, element);
      if (after !== undefined && change.fresh) append(added, change.set, change.fresh);
    }
    for (const { old, fresh } of this.#tables.values()) {
      if (old) {
        const { replaced, dropped } = old.elementsToRemove(fresh);
        gone.set(old.map, replaced);
        goneLater.set(old.map, dropped);
      }
      if (fresh) added.set(fresh.map, fresh.elementsBeside(old));
    }
    for (const [set, elements] of gone) transaction.deleteElements(set, elements);
    for (const [set, elements] of added) transaction.addElements(set, elements);
    for (const [set, elements] of goneLater) afterwards.deleteElements(set, elements);
  }

  #valueBefore(identity: string, { set, old, fresh }: ElementChange): string | undefined {
    const isShared = isSharedSet(this.#layout, set);
    const element = old ?? fresh;
    const isCounted = isShared && this.#useCounts.count(identity) > 0;
    if (isCounted) return element && valueText(element);
    const { snapshot } = this.#present;
    if (snapshot) return element && snapshot.elements.get(set.name)?.value(element);
    return isShared ? undefined : old && valueText(old);
  }

  /** The value of a shared element follows from its key, so all service ports want the same. */
  #valueAfter(identity: string, { set, old, fresh, count }: ElementChange): string | undefined {
    if (!isSharedSet(this.#layout, set)) return fresh && valueText(fresh);
    const element = fresh ?? old;
    return this.#useCounts.count(identity) + count > 0 ? element && valueText(element) : undefined;
  }

  #countChanges(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const add = (identity: string, count: number) => counts.set(identity, (counts.get(identity) ?? 0) + count);
    for (const [name, { count }] of this.#chains) {
      if (count === 0) continue;
      counts.set(chainIdentity(name), count);
      add(USED_CHAINS, this.#begins(chainIdentity(name), count));
    }
    for (const [name, { count }] of this.#sets) if (count !== 0) counts.set(setIdentity(name), count);
    for (const [set, elements] of this.#added) add(sizeIdentity(set.name), elements.length);
    for (const [identity, { set, count }] of this.#elements) {
      if (count === 0) continue;
      const isShared = isSharedSet(this.#layout, set);
      if (isShared) counts.set(identity, count);
      add(sizeIdentity(set.name), isShared ? this.#begins(identity, count) : count);
    }
    return counts;
  }

  /** 1 if the object has its first user now, -1 if it loses its last one. */
  #begins(identity: string, change: number): number {
    const before = this.#useCounts.count(identity);
    return Number(before + change > 0) - Number(before > 0);
  }
}

function note<T>(changes: Map<string, Change<T>>, name: string, side: 'old' | 'fresh', value: T): void {
  const known = changes.get(name);
  const change: Change<T> = known ?? { old: undefined, fresh: undefined, count: 0 };
  if (!known) changes.set(name, change);
  change[side] = value;
  change.count += side === 'old' ? -1 : 1;
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
