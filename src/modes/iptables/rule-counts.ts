import {
  filterRulesAfter,
  filterRulesBefore,
  natFixedRules,
  nodePortRules,
  SHARED_CHAINS,
  type Table,
} from './fixed.ts';
import { chainOfRule } from './restore-text.ts';
import type { RuleOptions } from './rule-options.ts';
import { ownChains } from './service-chains.ts';
import { sharedRules } from './service-rules.ts';
import type { Written } from './written.ts';

/** How many rules there are of service ports: by table, and in each chain that they share. */
export class RuleCounts {
  readonly #tables: Record<Table, number> = { filter: 0, nat: 0 };
  readonly #chains = new Map<string, number>();

  add(written: Written, options: RuleOptions): void {
    this.#count(written, options, 1);
  }

  remove(written: Written, options: RuleOptions): void {
    this.#count(written, options, -1);
  }

  /** All rules of the table that are ours, jumps from built-in chains apart. */
  total(table: Table, options: RuleOptions): number {
    const fixed =
      table === 'filter'
        ? [filterRulesBefore(options), filterRulesAfter(options)]
        : [natFixedRules(options), nodePortRules(options)];
    return this.#tables[table] + fixed.flat().length;
  }

  ofChain(table: Table, chain: string): number {
    return this.#chains.get(`${table} ${chain}`) ?? 0;
  }

  #count({ plan, withComments }: Written, options: RuleOptions, sign: 1 | -1): void {
    const shared = sharedRules(plan, options);
    for (const table of Object.keys(SHARED_CHAINS) as Table[]) {
      this.#tables[table] += sign * shared[table].length;
      for (const rule of shared[table]) {
        const key = `${table} ${chainOfRule(rule)}`;
        this.#chains.set(key, (this.#chains.get(key) ?? 0) + sign);
      }
    }
    this.#tables.nat += sign * ownChains(plan, options, withComments).rules.length;
  }
}
