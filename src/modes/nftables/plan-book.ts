import type { Family } from '../../net/index.ts';
import { type PlanDiff, planName, type ServicePortPlan } from '../../plan/index.ts';
import type { SetAside } from '../mode.ts';
import { notePlans } from '../note-plans.ts';
import type { PlanChange } from './diff.ts';

interface Refused {
  readonly plan: ServicePortPlan;
  readonly error: string;
}

/** What is wanted of each service port, what is committed, and what the kernel would not take. */
export class PlanBook {
  readonly #wanted = new Map<string, ServicePortPlan>();
  readonly #committed = new Map<string, ServicePortPlan>();
  readonly #refused = new Map<string, Refused>();
  readonly #dirty = new Set<string>();
  /** What was committed before the table was read again: to fall back on if something newer is refused. */
  #lastGood: ReadonlyMap<string, ServicePortPlan> = new Map();

  want(plans: PlanDiff): void {
    notePlans(plans, this.#wanted, this.#dirty);
  }

  committed(): Iterable<ServicePortPlan> {
    return this.#committed.values();
  }

  setAside(family: Family): readonly SetAside[] {
    return [...this.#refused.values()].map(({ plan, error }) => ({ family, servicePort: planName(plan), error }));
  }

  /** What has to be written of what was noted since the last time. */
  changed(): PlanChange[] {
    return this.#changes(this.#dirty);
  }

  /** What has to be written of all that is wanted. */
  all(): PlanChange[] {
    return this.#changes(this.#wanted.keys());
  }

  written(): void {
    this.#dirty.clear();
  }

  /** These changes are committed. */
  settle(part: readonly PlanChange[]): void {
    for (const { id, to } of part) {
      if (to) this.#committed.set(id, to);
      else this.#committed.delete(id);
    }
  }

  /** What the table has is to be found out. */
  forgetCommitted(): void {
    this.#lastGood = new Map([...this.#lastGood, ...this.#committed]);
    this.#committed.clear();
  }

  /** The table has what is wanted. */
  adopted(): void {
    this.#lastGood = new Map();
  }

  /** Sets a service port aside. Returns what was, and the change to its last good version, if there is one. */
  refuse({ id, to }: PlanChange, error: string) {
    if (!to || to !== this.#wanted.get(id)) return {};
    this.#refused.set(id, { plan: to, error });
    const good = this.#lastGood.get(id);
    const fallback: PlanChange | undefined = good && good !== to ? { id, from: undefined, to: good } : undefined;
    return { refused: { servicePort: planName(to), error }, fallback };
  }

  #changes(ids: Iterable<string>): PlanChange[] {
    const changes: PlanChange[] = [];
    for (const id of ids) {
      const to = this.#wanted.get(id);
      const from = this.#committed.get(id);
      // What was refused is tried again when it changes, not before; until then its last good version counts.
      const refused = this.#refused.get(id);
      if (refused && refused.plan === to) {
        const good = from ?? this.#lastGood.get(id);
        if (good !== from) changes.push({ id, from, to: good });
        continue;
      }
      if (refused) this.#refused.delete(id);
      if (from !== to) changes.push({ id, from, to });
    }
    return changes;
  }
}
