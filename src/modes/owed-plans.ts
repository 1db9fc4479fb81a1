import type { Family } from '../net/index.ts';
import type { PlanDiff } from '../plan/index.ts';

/** What was handed over and nobody took note of yet. It comes only once, so a sync that fails early must not lose it. */
export class OwedPlans {
  readonly #owed = new Map<Family, PlanDiff[]>();

  add(family: Family, plans: PlanDiff): void {
    const owed = this.#owed.get(family);
    if (owed) owed.push(plans);
    else this.#owed.set(family, [plans]);
  }

  /** In the order in which they came. */
  take(family: Family): readonly PlanDiff[] {
    const owed = this.#owed.get(family) ?? [];
    this.#owed.delete(family);
    return owed;
  }
}
