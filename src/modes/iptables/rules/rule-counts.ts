import type { Table } from './fixed-rules.ts';
import type { RenderInput } from './render-input.ts';
import { chainOfRule } from './restore-text.ts';
import type { RuleOptions } from './rule-options.ts';
import { ownChains } from './service-chains.ts';
import { allSharedRules, type SharedRules } from './service-rules.ts';

/** How many rules are committed: in each table, and of service ports in each chain that they share. */
export class RuleCounts {
  readonly #tables: Record<Table, number>;
  readonly #shared = new Map<string, number>();

  /** `totals`: all rules of each table, those of the service ports included. */
  constructor(totals: Readonly<Record<Table, number>>, inputs: Iterable<RenderInput>, options: RuleOptions) {
    this.#tables = { ...totals };
    for (const { plan } of inputs) this.#countShared(allSharedRules(plan, options), 1);
  }

  add(input: RenderInput, options: RuleOptions): void {
    this.#count(input, options, 1);
  }

  remove(input: RenderInput, options: RuleOptions): void {
    this.#count(input, options, -1);
  }

  addFixed(table: Table, rules: number): void {
    this.#tables[table] += rules;
  }

  /** All our rules of the table, except the jumps from built-in chains. */
  total(table: Table): number {
    return this.#tables[table];
  }

  inSharedChain(table: Table, chain: string): number {
    return this.#shared.get(`${table} ${chain}`) ?? 0;
  }

  #count({ plan, withComments }: RenderInput, options: RuleOptions, sign: 1 | -1): void {
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
