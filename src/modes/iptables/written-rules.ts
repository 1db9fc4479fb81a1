import type { Table } from './fixed.ts';
import { RuleCounts } from './rule-counts.ts';
import type { RuleOptions } from './rule-options.ts';
import type { Change, Written } from './written.ts';

/** What is thought to be written: service ports, the last rules of nat's KUBE-SERVICES, and how many rules all that is. */
export class WrittenRules {
  #ports = new Map<string, Written>();
  #tail: readonly string[] = [];
  #counts: RuleCounts;

  constructor(options: RuleOptions) {
    this.#counts = new RuleCounts({ filter: 0, nat: 0 }, [], options);
  }

  get(id: string): Written | undefined {
    return this.#ports.get(id);
  }

  get ports(): Iterable<Written> {
    return this.#ports.values();
  }

  get tail(): readonly string[] {
    return this.#tail;
  }

  get counts(): Pick<RuleCounts, 'total' | 'ofShared'> {
    return this.#counts;
  }

  /** All service ports that there are once the changes are made. */
  *after(changes: readonly Change[]): Generator<Written> {
    const changed = new Set(changes.map(({ id }) => id));
    for (const { to } of changes) if (to) yield to;
    for (const [id, written] of this.#ports) if (!changed.has(id)) yield written;
  }

  change(changes: readonly Change[], tail: readonly string[], options: RuleOptions): void {
    for (const { id, from, to } of changes) {
      if (from) this.#counts.remove(from, options);
      if (to) this.#counts.add(to, options);
      if (to) this.#ports.set(id, to);
      else this.#ports.delete(id);
    }
    this.#counts.addFixed('nat', tail.length - this.#tail.length);
    this.#tail = tail;
  }

  /** `totals`: the rules of each table, those of the service ports included. */
  replace(
    ports: Map<string, Written>,
    tail: readonly string[],
    totals: Readonly<Record<Table, number>>,
    options: RuleOptions,
  ): void {
    this.#ports = ports;
    this.#tail = tail;
    this.#counts = new RuleCounts(totals, ports.values(), options);
  }
}
