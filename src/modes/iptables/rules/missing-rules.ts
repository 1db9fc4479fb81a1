import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Iptables } from '../../../kernel/iptables/index.ts';
import {
  filterChains,
  filterRulesAfter,
  filterRulesBefore,
  JUMPS,
  natFixedRules,
  nodePortRules,
} from './fixed-rules.ts';
import type { RenderInput } from './render-input.ts';
import { chainOfRule } from './restore-text.ts';
import type { RuleOptions } from './rule-options.ts';
import { ownChains } from './service-chains.ts';
import { allSharedRules } from './service-rules.ts';

const PLANS_PER_TURN = 200;
/** The text names this many chains, and counts the others. */
const MAX_NAMED = 3;

/**
 * Finds out which rules are missing, as text. It compares how often each chain is used, by its rules and by jumps to
 * it, with how often it should be. More uses than that are fine: some CNI plugins jump to KUBE-MARK-MASQ, and the
 * kubelet has rules in KUBE-FIREWALL.
 */
export async function missingRules(
  iptables: Iptables,
  committed: Iterable<RenderInput>,
  options: RuleOptions,
): Promise<string | undefined> {
  const expected = { filter: new ChainUseCounts(), nat: new ChainUseCounts() };
  for (const { table, to } of JUMPS) expected[table].add(to);
  for (const chain of filterChains(options)) expected.filter.add(chain, 0);
  expected.filter.addRules([...filterRulesBefore(options), ...filterRulesAfter(options)]);
  expected.nat.addRules([...natFixedRules(options), ...nodePortRules(options)]);
  let handled = 0;
  for (const { plan, withComments } of committed) {
    const { filter, nat } = allSharedRules(plan, options);
    expected.filter.addRules(filter);
    expected.nat.addRules(nat);
    expected.nat.addRules(ownChains(plan, options, withComments).rules);
    if (++handled % PLANS_PER_TURN === 0) await nextTurn();
  }
  const uses = await iptables.chainUses();
  const missing = [...expected.filter.missingIn(uses.get('filter')), ...expected.nat.missingIn(uses.get('nat'))];
  if (missing.length === 0) return undefined;
  const rest = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : '';
  return `${missing.slice(0, MAX_NAMED).join(', ')}${rest}`;
}

class ChainUseCounts {
  readonly #counts = new Map<string, number>();

  add(chain: string, uses = 1): void {
    this.#counts.set(chain, (this.#counts.get(chain) ?? 0) + uses);
  }

  addRules(rules: readonly string[]): void {
    for (const rule of rules) {
      this.add(chainOfRule(rule));
      const target = / -j (KUBE-\S+)$/.exec(rule)?.[1];
      if (target !== undefined) this.add(target);
    }
  }

  *missingIn(present: ReadonlyMap<string, number> = new Map()): Generator<string> {
    for (const [chain, uses] of this.#counts) {
      const found = present.get(chain);
      if (found === undefined) yield `chain ${chain} is gone`;
      else if (found < uses) yield `chain ${chain} lost ${uses - found} of its rules or of the jumps to it`;
    }
  }
}
