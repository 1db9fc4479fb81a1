import { type Model, type ModelChange, NONE, type ServiceState } from '../model/index.ts';
import { type PlanOptions, planService, type ServicePortPlan, samePlan, samePort } from './service-port-plan.ts';

/** How plans differ from those before. */
export interface PlanDiff {
  readonly added: readonly ServicePortPlan[];
  readonly updated: readonly { readonly from: ServicePortPlan; readonly to: ServicePortPlan }[];
  readonly removed: readonly ServicePortPlan[];
}

/** The plans of all Service ports of one family, kept up to date with work proportional to what changed. */
export class Planner {
  readonly #model: Model;
  readonly #plans = new Map<string, readonly ServicePortPlan[]>();
  #options: PlanOptions;

  constructor(model: Model, options: PlanOptions) {
    this.#model = model;
    this.#options = options;
  }

  /**
   * Brings the plans of the Services in a change up to date. Under other options than before (the node's zone changed,
   * the configuration was reloaded) it is all of them.
   */
  update(change: Pick<ModelChange, 'services'>, options = this.#options): PlanDiff {
    const everything = options !== this.#options;
    this.#options = options;
    return this.#plan(everything ? new Set([...change.services, ...this.#model.services()]) : change.services);
  }

  service(key: string): readonly ServicePortPlan[] {
    return this.#plans.get(key) ?? NONE;
  }

  *plans(): Generator<ServicePortPlan> {
    for (const plans of this.#plans.values()) yield* plans;
  }

  #plan(services: Iterable<ServiceState>): PlanDiff {
    const diff: Diff = { added: [], updated: [], removed: [] };
    for (const service of services) {
      const plans = compare(this.service(service.key), planService(service, this.#options), diff);
      if (plans.length > 0) this.#plans.set(service.key, plans);
      else this.#plans.delete(service.key);
    }
    return diff;
  }
}

interface Diff extends PlanDiff {
  readonly added: ServicePortPlan[];
  readonly updated: { from: ServicePortPlan; to: ServicePortPlan }[];
  readonly removed: ServicePortPlan[];
}

/** Notes the differences and returns the new plans, the old object standing in for an equal one. */
function compare(
  before: readonly ServicePortPlan[],
  after: readonly ServicePortPlan[],
  diff: Diff,
): readonly ServicePortPlan[] {
  const kept = after.map(plan => {
    const from = before.find(old => samePort(old.port, plan.port));
    if (from === undefined) diff.added.push(plan);
    else if (samePlan(from, plan)) return from;
    else diff.updated.push({ from, to: plan });
    return plan;
  });
  for (const old of before) {
    if (!after.some(plan => samePort(plan.port, old.port))) diff.removed.push(old);
  }
  return kept;
}
