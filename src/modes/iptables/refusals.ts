import type { Family } from '../../net/index.ts';
import { planName, type ServicePortPlan } from '../../plan/index.ts';
import type { SetAside } from '../mode.ts';

interface Refused {
  readonly plan: ServicePortPlan;
  readonly error: string;
  /** What is written instead. */
  readonly fallback: ServicePortPlan | undefined;
}

/** Plans that iptables-restore would not take. They are tried again when they change, not before. */
export class Refusals {
  readonly #refused = new Map<string, Refused>();

  has(id: string, plan: ServicePortPlan | undefined): boolean {
    return plan !== undefined && this.#refused.get(id)?.plan === plan;
  }

  /** What is to be written where a plan is wanted: for one that was refused its last good version, if there is one. */
  choose(id: string, plan: ServicePortPlan): ServicePortPlan | undefined {
    return this.has(id, plan) ? this.#refused.get(id)?.fallback : plan;
  }

  /** `good`: what is written. One that is refused again has no good version. Says whether the plan is new here. */
  add(id: string, plan: ServicePortPlan, error: string, good: ServicePortPlan | undefined): boolean {
    const isKnown = this.has(id, plan);
    this.#refused.set(id, { plan, error, fallback: isKnown || good === plan ? undefined : good });
    return !isKnown;
  }

  /** Forgets those that are wanted otherwise by now, or no longer. */
  forgetChanged(wanted: ReadonlyMap<string, ServicePortPlan>): void {
    for (const [id, { plan }] of this.#refused) if (wanted.get(id) !== plan) this.#refused.delete(id);
  }

  list(family: Family): readonly SetAside[] {
    return [...this.#refused.values()].map(({ plan, error }) => ({ family, servicePort: planName(plan), error }));
  }
}
