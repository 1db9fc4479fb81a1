import { SHARED_CHAINS, type Table } from './fixed.ts';
import { CHAINS_A_PART } from './full-text.ts';
import { Chain } from './names.ts';
import { chainOfRule, RestoreText, type TableText, withCommand } from './restore-text.ts';
import type { RuleOptions } from './rule-options.ts';
import { ownChains } from './service-chains.ts';
import { type SharedRules, sharedRules } from './service-rules.ts';
import { addRemovals, inDeletionOrder, removalTexts } from './stale-chains.ts';
import type { Change, Written } from './written.ts';

/** What the restore of a change needs to know of all else. */
export interface Surroundings {
  readonly options: RuleOptions;
  /** The last rules of nat's KUBE-SERVICES, as they are and as they should be. */
  readonly tail: { readonly from: readonly string[]; readonly to: readonly string[] };
  /** How many rules of service ports a shared chain has. */
  size(table: Table, chain: string): number;
  /** All that will be there after the change. */
  all(): Iterable<Written>;
  /** Whether large restores are made in parts. */
  readonly inParts: boolean;
}

/** Up to so many rules of a shared chain are always put in and taken out one by one. */
const FEW = 100;

/** The restores that make the changes, and touch nothing else. */
export function* partialTexts(changes: readonly Change[], surroundings: Surroundings): Generator<RestoreText> {
  const { options, inParts } = surroundings;
  const last = new RestoreText();
  const differences = new SharedDifferences();
  const stale: string[] = [];
  let part = inParts && changes.length * 2 > CHAINS_A_PART ? new RestoreText() : last;
  for (const change of changes) {
    writeOwn(part.table('nat'), change, options, stale);
    differences.note(change, options);
    if (part === last || part.table('nat').chains.length < CHAINS_A_PART) continue;
    yield part;
    part = new RestoreText();
  }
  if (part !== last && !part.isEmpty) yield part;
  differences.write(last, surroundings);
  const isLong = inParts && stale.length > CHAINS_A_PART;
  if (!isLong) addRemovals(last.table('nat'), stale);
  if (!last.isEmpty) yield last;
  if (isLong) yield* removalTexts('nat', inDeletionOrder(stale), CHAINS_A_PART);
}

/** Writes the chains whose rules differ, and notes those that are no longer there. */
function writeOwn(nat: TableText, { from, to }: Change, options: RuleOptions, stale: string[]): void {
  const old = from && rulesByChain(from, options);
  const next = to ? rulesByChain(to, options) : new Map<string, readonly string[]>();
  for (const [chain, rules] of next) {
    if (sameLines(old?.get(chain), rules)) continue;
    nat.chain(chain);
    nat.addRules(rules);
  }
  for (const chain of old?.keys() ?? []) if (!next.has(chain)) stale.push(chain);
}

function rulesByChain({ plan, withComments }: Written, options: RuleOptions): Map<string, string[]> {
  const { chains, rules } = ownChains(plan, options, withComments);
  const byChain = new Map<string, string[]>(chains.map(chain => [chain, []]));
  for (const rule of rules) byChain.get(chainOfRule(rule))?.push(rule);
  return byChain;
}

function sameLines(a: readonly string[] | undefined, b: readonly string[]): boolean {
  return a !== undefined && a.length === b.length && a.every((line, i) => line === b[i]);
}

/** What changes in the chains that all share. */
class SharedDifferences {
  readonly #removed = { filter: new Lines(), nat: new Lines() };
  readonly #added = { filter: new Lines(), nat: new Lines() };

  note({ from, to }: Change, options: RuleOptions): void {
    const old: SharedRules | undefined = from && sharedRules(from.plan, options);
    const next: SharedRules | undefined = to && sharedRules(to.plan, options);
    for (const table of ['filter', 'nat'] as const) {
      const left = [...(old?.[table] ?? [])];
      const fresh: string[] = [];
      for (const rule of next?.[table] ?? []) {
        const at = left.indexOf(rule);
        if (at < 0) fresh.push(rule);
        else left.splice(at, 1);
      }
      this.#removed[table].addAll(left);
      // Each is put at the top, so the last goes first.
      this.#added[table].addAll(fresh.reverse());
    }
  }

  write(text: RestoreText, surroundings: Surroundings): void {
    for (const table of ['filter', 'nat'] as const) {
      for (const chain of SHARED_CHAINS[table]) this.#writeChain(text.table(table), table, chain, surroundings);
    }
  }

  #writeChain(text: TableText, table: Table, chain: string, { size, all, options, tail }: Surroundings): void {
    const removed = this.#removed[table].of(chain);
    const added = this.#added[table].of(chain);
    const end = table === 'nat' && chain === Chain.SERVICES ? tail : { from: [], to: [] };
    const changed = removed.length + added.length;
    if (changed > Math.max(FEW, size(table, chain) / 4)) {
      text.chain(chain);
      for (const { plan } of all()) {
        text.addRules(sharedRules(plan, options)[table].filter(rule => chainOfRule(rule) === chain));
      }
      text.addRules(end.to);
      return;
    }
    for (const rule of removed) text.rule(withCommand('-D', rule));
    for (const rule of added) text.rule(withCommand('-I', rule));
    for (const rule of end.from) if (!end.to.includes(rule)) text.rule(withCommand('-D', rule));
    text.addRules(end.to.filter(rule => !end.from.includes(rule)));
  }
}

class Lines {
  readonly #byChain = new Map<string, string[]>();

  addAll(lines: readonly string[]): void {
    for (const line of lines) {
      const chain = chainOfRule(line);
      const known = this.#byChain.get(chain);
      if (known) known.push(line);
      else this.#byChain.set(chain, [line]);
    }
  }

  of(chain: string): readonly string[] {
    return this.#byChain.get(chain) ?? [];
  }
}
