import type { Table } from './fixed.ts';
import { chainOfRule } from './restore-text.ts';
import type { RuleOptions } from './rule-options.ts';
import { ownChains } from './service-chains.ts';
import { allSharedRules, type SharedRules } from './service-rules.ts';
import type { Written } from './written.ts';

/** How many rules there are: by table, and of service ports in each chain that they share. */
export class RuleCounts {
  readonly #tables: Record<Table, number>;
  readonly #shared = new Map<string, number>();

  /** `totals`: the rules of each table, those of the service ports included. */
  constructor(totals: Readonly<Record<Table, number>>, written: Iterable<Written>, options: RuleOptions) {
    this.#tables = { ...totals };
    for (const { plan } of written) this.#countShared(allSharedRules(plan, options), 1);
  }

  add(written: Written, options: RuleOptions): void {
    this.#count(written, options, 1);
  }

  remove(written: Written, options: RuleOptions): void {
    this.#count(written, options, -1);
  }

  addFixed(table: Table, rules: number): void {
    this.#tables[table] += rules;
  }

  /** All rules of the table that are ours, jumps from built-in chains apart. */
  total(table: Table): number {
    return this.#tables[table];
  }

  ofShared(table: Table, chain: string): number {
    return this.#shared.get(`${table} ${chain}`) ?? 0;
  }

  #count({ plan, withComments }: Written, options: RuleOptions, sign: 1 | -1): void {
    const shared = allSharedRules(plan, options);
    this.#countShared(shared, sign);
    this.#tables.filter += sign * shared.filter.length;
    this.#tables.nat += sign * (shared.nat.length + ownChains(plan, options, withComments).rules.length);
  }

  #countShared(rules: SharedRules, sign: 1 | -1): void {
    for (const table of ['filter', 'nat'] as const) {
      for (const rule of rules[table]) {
        const key = `${table} ${chainOfRule(rule)}`;
        this.#shared.set(key, (this.#shared.get(key) ?? 0) + sign);
      }
    }
  }
}
