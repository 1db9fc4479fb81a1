import { addRemovals, inDeletionOrder, removalTexts } from './chains/stale-chains.ts';
import { Chain } from './names.ts';
import { CHAINS_PER_RESTORE } from './render.ts';
import { SHARED_CHAINS, type Table } from './rules/fixed-rules.ts';
import type { RenderChange, RenderInput } from './rules/render-input.ts';
import { chainOfRule, RestoreText, type TableText, withCommand } from './rules/restore-text.ts';
import type { RuleOptions } from './rules/rule-options.ts';
import { ownChains } from './rules/service-chains.ts';
import { contestedRules, type SharedRules, sharedRules } from './rules/service-rules.ts';

/** What the changes depend on besides the service ports that change. */
export interface DiffContext {
  readonly options: RuleOptions;
  /** The last rules of KUBE-SERVICES in nat: those that are committed, and those that should be. */
  readonly lastRules: { readonly from: readonly string[]; readonly to: readonly string[] };
  /** How many rules of service ports a shared chain has. */
  size(table: Table, chain: string): number;
  /** All service ports after the changes. */
  all(): Iterable<RenderInput>;
  /** Whether a large restore is split into several. */
  readonly inParts: boolean;
}

/** Up to this number, rules of a shared chain are always inserted and deleted one by one. */
const FEW_RULES = 100;

/** The restores that make the changes, and nothing else. The last restore has the rules that jump to new chains. */
export function* partialTexts(changes: readonly RenderChange[], context: DiffContext): Generator<RestoreText> {
  const { options, inParts } = context;
  const differences = new SharedDifferences();
  const stale: string[] = [];
  let text = new RestoreText();
  for (const change of changes) {
    writeOwn(text.table('nat'), change, options, stale);
    differences.note(change, options);
    if (!inParts || text.table('nat').chains.length < CHAINS_PER_RESTORE) continue;
    yield text;
    text = new RestoreText();
  }
  const isLong = inParts && text.table('nat').chains.length + stale.length > CHAINS_PER_RESTORE;
  differences.write(text, context);
  if (!isLong) addRemovals(text.table('nat'), stale);
  if (!text.isEmpty) yield text;
  if (isLong) yield* removalTexts('nat', inDeletionOrder(stale), CHAINS_PER_RESTORE);
}

/** Writes the chains whose rules differ, and collects those that are no longer wanted. */
function writeOwn(nat: TableText, { from, to }: RenderChange, options: RuleOptions, stale: string[]): void {
  const old = from && rulesByChain(from, options);
  const next = to ? rulesByChain(to, options) : new Map<string, readonly string[]>();
  for (const [chain, rules] of next) {
    if (sameLines(old?.get(chain), rules)) continue;
    nat.chain(chain);
    nat.addRules(rules);
  }
  for (const chain of old?.keys() ?? []) if (!next.has(chain)) stale.push(chain);
}

function rulesByChain({ plan, withComments }: RenderInput, options: RuleOptions): Map<string, string[]> {
  const { chains, rules } = ownChains(plan, options, withComments);
  const byChain = new Map<string, string[]>(chains.map(chain => [chain, []]));
  for (const rule of rules) byChain.get(chainOfRule(rule))?.push(rule);
  return byChain;
}

function sameLines(a: readonly string[] | undefined, b: readonly string[]): boolean {
  return a !== undefined && a.length === b.length && a.every((line, i) => line === b[i]);
}

/**
 * The changes of the chains that all service ports share. Rules of one service port may match the same packets, so
 * their order matters: if one of its rules in a chain changes, all of them are deleted and inserted again, as one
 * block.
 */
class SharedDifferences {
  readonly #removed = { filter: new Lines(), nat: new Lines() };
  readonly #added = { filter: new Lines(), nat: new Lines() };
  /** Rules that stand behind all others. */
  readonly #contested = { filter: new Lines(), nat: new Lines() };

  note({ from, to }: RenderChange, options: RuleOptions): void {
    this.#noteRules(this.#added, from && sharedRules(from.plan, options), to && sharedRules(to.plan, options));
    if (!from?.plan.conflicts.length && !to?.plan.conflicts.length) return;
    const [old, next] = [from && contestedRules(from.plan, options), to && contestedRules(to.plan, options)];
    this.#noteRules(this.#contested, old, next);
  }

  #noteRules(added: Readonly<Record<Table, Lines>>, old: SharedRules | undefined, next: SharedRules | undefined): void {
    for (const table of ['filter', 'nat'] as const) {
      this.#noteTable(table, added[table], old?.[table] ?? [], next?.[table] ?? []);
    }
  }

  #noteTable(table: Table, added: Lines, old: readonly string[], next: readonly string[]): void {
    if (sameLines(old, next)) return;
    for (const chain of SHARED_CHAINS[table]) {
      const isHere = (rule: string) => chainOfRule(rule) === chain;
      const [left, fresh] = [old.filter(isHere), next.filter(isHere)];
      if (sameLines(left, fresh)) continue;
      this.#removed[table].add(chain, left);
      added.add(chain, fresh);
    }
  }

  write(text: RestoreText, context: DiffContext): void {
    for (const table of ['filter', 'nat'] as const) {
      for (const chain of SHARED_CHAINS[table]) this.#writeChain(text.table(table), table, chain, context);
    }
  }

  #writeChain(text: TableText, table: Table, chain: string, { size, all, options, lastRules }: DiffContext): void {
    const removed = this.#removed[table].of(chain);
    const added = this.#added[table].of(chain);
    const contested = this.#contested[table].of(chain);
    const end = table === 'nat' && chain === Chain.SERVICES ? lastRules : { from: [], to: [] };
    const changed = removed.length + added.length + contested.length;
    if (changed > Math.max(FEW_RULES, size(table, chain) / 4)) {
      text.chain(chain);
      const plans = Array.from(all(), ({ plan }) => plan);
      for (const rules of [sharedRules, contestedRules]) {
        for (const plan of plans)
          text.addRules(rules(plan, options)[table].filter(rule => chainOfRule(rule) === chain));
      }
      text.addRules(end.to);
      return;
    }
    for (const rule of removed) text.rule(withCommand('-D', rule));
    // Each rule is inserted at the top, so the last one comes first.
    for (const rule of added.toReversed()) text.rule(withCommand('-I', rule));
    // Rules that are appended must stand before the last rules.
    const kept = contested.length > 0 ? [] : end.from.filter(rule => end.to.includes(rule));
    for (const rule of end.from) if (!kept.includes(rule)) text.rule(withCommand('-D', rule));
    text.addRules(contested);
    text.addRules(end.to.filter(rule => !kept.includes(rule)));
  }
}

class Lines {
  readonly #byChain = new Map<string, string[]>();

  add(chain: string, lines: readonly string[]): void {
    const known = this.#byChain.get(chain);
    if (known) known.push(...lines);
    else this.#byChain.set(chain, [...lines]);
  }

  of(chain: string): readonly string[] {
    return this.#byChain.get(chain) ?? [];
  }
}
