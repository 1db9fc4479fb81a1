import type { PlanBook } from '../../plan-book.ts';
import type { Table } from './fixed-rules.ts';
import type { RenderChange, RenderInput } from './render-input.ts';
import { RuleCounts } from './rule-counts.ts';
import type { RuleOptions } from './rule-options.ts';

/**
 * The rules that the kernel should have now: the plan book's committed plans, and what only this mode knows of them.
 */
export class CommittedRules {
  readonly #book: PlanBook;
  /** The committed service ports whose rules have comments. */
  readonly #withComments = new Set<string>();
  #lastRules: readonly string[] = [];
  #counts: RuleCounts;

  constructor(book: PlanBook, options: RuleOptions) {
    this.#book = book;
    this.#counts = new RuleCounts({ filter: 0, nat: 0 }, [], options);
  }

  get(id: string): RenderInput | undefined {
    const plan = this.#book.committedPlan(id);
    return plan && { plan, withComments: this.#withComments.has(id) };
  }

  *inputs(): Generator<RenderInput> {
    for (const [id, plan] of this.#book.committedPlans()) yield { plan, withComments: this.#withComments.has(id) };
  }

  /** The last rules of KUBE-SERVICES in nat. */
  get lastRules(): readonly string[] {
    return this.#lastRules;
  }

  get counts(): Pick<RuleCounts, 'total' | 'inSharedChain'> {
    return this.#counts;
  }

  /** All service ports after the changes. */
  *after(changes: readonly RenderChange[]): Generator<RenderInput> {
    const changed = new Set(changes.map(({ id }) => id));
    for (const { to } of changes) if (to) yield to;
    for (const [id, plan] of this.#book.committedPlans()) {
      if (!changed.has(id)) yield { plan, withComments: this.#withComments.has(id) };
    }
  }

  /** The kernel has these changes. */
  commit(changes: readonly RenderChange[], lastRules: readonly string[], options: RuleOptions): void {
    for (const { from, to } of changes) {
      if (from) this.#counts.remove(from, options);
      if (to) this.#counts.add(to, options);
    }
    this.#counts.addFixed('nat', lastRules.length - this.#lastRules.length);
    this.#lastRules = lastRules;
    this.#note(changes);
  }

  /** The kernel has exactly these service ports. `totals`: all rules of each table. */
  replace(
    inputs: ReadonlyMap<string, RenderInput>,
    lastRules: readonly string[],
    totals: Readonly<Record<Table, number>>,
    options: RuleOptions,
  ): void {
    this.#lastRules = lastRules;
    this.#counts = new RuleCounts(totals, inputs.values(), options);
    this.#withComments.clear();
    this.#note(Array.from(inputs, ([id, to]) => ({ id, from: undefined, to })));
  }

  #note(changes: readonly RenderChange[]): void {
    for (const { id, to } of changes) {
      if (to?.withComments) this.#withComments.add(id);
      else this.#withComments.delete(id);
    }
    this.#book.commit(changes.map(({ id, from, to }) => ({ id, from: from?.plan, to: to?.plan })));
  }
}
