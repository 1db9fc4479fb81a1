import type { Protocol } from '../api/index.ts';
import { type Change, type Diff, latestOf } from '../lib/change.ts';
import { type Model, type ModelDiff, NONE, type ServicePort, type ServiceState } from '../model/index.ts';
import { Claims, outweighs } from './claims.ts';
import type { Frontend } from './frontend.ts';
import { type PlanOptions, planService, type ServicePortPlan, samePlan, samePort } from './service-port-plan.ts';

export type PlanDiff = Diff<ServicePortPlan>;

/** The plans of all Service ports of one family, kept up to date with work proportional to what changed. */
export class Planner {
  readonly #model: Model;
  readonly #plans = new Map<string, readonly ServicePortPlan[]>();
  readonly #claims = new Claims();
  #options: PlanOptions;
  #size = 0;

  constructor(model: Model, options: PlanOptions) {
    this.#model = model;
    this.#options = options;
  }

  /**
   * Plans the Services that changed, or all Services if the options are others than before (the node's zone changed,
   * the configuration was reloaded).
   */
  update({ services }: Pick<ModelDiff, 'services'>, options = this.#options): PlanDiff {
    const planAll = options !== this.#options;
    this.#options = options;
    const replanned = services.map(change => this.#replan(change));
    if (planAll) this.#addOthers(replanned, this.#model.services());
    const rivals = new Set<string>();
    for (const service of replanned) this.#claim(service, rivals);
    // Rivals did not change themselves, but may get or lose a frontend now.
    if (rivals.size > 0) this.#addOthers(replanned, this.#statesOf(rivals));
    return this.#commit(replanned, rivals.size > 0);
  }

  /** How many plans there are. */
  get size(): number {
    return this.#size;
  }

  service(key: string): readonly ServicePortPlan[] {
    return this.#plans.get(key) ?? NONE;
  }

  *plans(): Generator<ServicePortPlan> {
    for (const plans of this.#plans.values()) yield* plans;
  }

  #replan(change: Change<ServiceState>): Replanned {
    const { key } = latestOf(change);
    const to = change.type === 'removed' ? NONE : planService(change.to, this.#options);
    return { key, from: this.service(key), to };
  }

  /** Plans those of the Services that are not planned yet. */
  #addOthers(replanned: Replanned[], services: Iterable<ServiceState>): void {
    const known = new Set(replanned.map(({ key }) => key));
    for (const service of services) {
      if (known.has(service.key)) continue;
      const to = planService(service, this.#options);
      replanned.push({ key: service.key, from: this.service(service.key), to });
    }
  }

  #statesOf(keys: Iterable<string>): readonly ServiceState[] {
    return Array.from(keys, key => this.#model.service(key) ?? []).flat();
  }

  #commit(replanned: readonly Replanned[], hasRivals: boolean): PlanDiff {
    const diff: MutableDiff = { added: [], updated: [], removed: [] };
    for (const { key, from, to } of replanned) {
      const plans = compare(from, hasRivals ? this.#settle(key, to) : to, diff);
      if (plans.length > 0) this.#plans.set(key, plans);
      else this.#plans.delete(key);
    }
    this.#size += diff.added.length - diff.removed.length;
    return diff;
  }

  /** Moves the Service's claims to the frontends of its new plans, and collects the Services that this concerns. */
  #claim({ key, from, to }: Replanned, rivals: Set<string>): void {
    for (const { frontends, conflicts, port } of from) {
      const release = (frontend: Frontend) => {
        for (const rival of this.#claims.rivals(key, frontend, port.protocol)) rivals.add(rival);
        this.#claims.remove(key, frontend, port.protocol);
      };
      frontends.forEach(release);
      for (const { frontend } of conflicts) release(frontend);
    }
    for (const { frontends, port } of to) {
      for (const frontend of frontends) {
        for (const rival of this.#claims.add(key, frontend, port.protocol)) rivals.add(rival).add(key);
      }
    }
  }

  /** Takes frontends away that another Service has the better claim to. */
  #settle(key: string, plans: readonly ServicePortPlan[]): readonly ServicePortPlan[] {
    return plans.map(plan => {
      const conflicts = plan.frontends.flatMap(frontend => {
        const owner = this.#ownerOf(key, frontend, plan.port);
        return owner === key ? [] : [{ frontend, owner }];
      });
      if (conflicts.length === 0) return plan;
      const lost = new Set(conflicts.map(({ frontend }) => frontend));
      return { ...plan, frontends: plan.frontends.filter(frontend => !lost.has(frontend)), conflicts };
    });
  }

  #ownerOf(key: string, frontend: Frontend, { protocol }: ServicePort): string {
    let best = { service: key, kind: frontend.kind };
    for (const rival of this.#claims.rivals(key, frontend, protocol)) {
      const claim = { service: rival, kind: this.#kindOf(rival, frontend, protocol) };
      if (outweighs(claim, best)) best = claim;
    }
    return best.service;
  }

  /** As what the rival wants the place. */
  #kindOf(rival: string, { ip, port }: Frontend, protocol: Protocol): Frontend['kind'] {
    const ports = this.#model.service(rival)?.ports ?? NONE;
    const isClusterIP = ports.some(
      other => other.clusterIP === ip && other.port === port && other.protocol === protocol,
    );
    return isClusterIP ? 'ClusterIP' : 'ExternalIP';
  }
}

/** The plans of one Service before and after. */
interface Replanned {
  readonly key: string;
  readonly from: readonly ServicePortPlan[];
  readonly to: readonly ServicePortPlan[];
}

interface MutableDiff extends PlanDiff {
  readonly added: ServicePortPlan[];
  readonly updated: { from: ServicePortPlan; to: ServicePortPlan }[];
  readonly removed: ServicePortPlan[];
}

/** Adds the changes to the diff. Returns the new plans; a plan that is equal to an old one is the old object. */
function compare(
  before: readonly ServicePortPlan[],
  after: readonly ServicePortPlan[],
  diff: MutableDiff,
): readonly ServicePortPlan[] {
  if (before.length === 0) {
    diff.added.push(...after);
    return after;
  }
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
