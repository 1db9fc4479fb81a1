import type { Protocol } from '../api/index.ts';
import { type Model, type ModelChange, NONE, type ServicePort, type ServiceState } from '../model/index.ts';
import { Claims, outweighs } from './claims.ts';
import type { Frontend } from './frontend.ts';
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
  readonly #claims = new Claims();
  #options: PlanOptions;
  #size = 0;

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

  #plan(services: Iterable<ServiceState>): PlanDiff {
    const fresh: Fresh[] = [];
    const rivals = new Set<string>();
    for (const service of services) {
      const planned = this.#planned(service);
      fresh.push(planned);
      this.#claim(planned, rivals);
    }
    if (rivals.size > 0) this.#addRivals(fresh, rivals);
    const diff: Diff = { added: [], updated: [], removed: [] };
    for (const { key, before, plans } of fresh) {
      const settled = compare(before, rivals.size > 0 ? this.#settle(key, plans) : plans, diff);
      if (settled.length > 0) this.#plans.set(key, settled);
      else this.#plans.delete(key);
    }
    this.#size += diff.added.length - diff.removed.length;
    return diff;
  }

  #planned(service: ServiceState): Fresh {
    return { key: service.key, before: this.service(service.key), plans: planService(service, this.#options) };
  }

  /** Who wanted what another gives up, or now gets, is planned again though it did not change itself. */
  #addRivals(fresh: Fresh[], rivals: ReadonlySet<string>): void {
    const planned = new Set(fresh.map(({ key }) => key));
    for (const key of rivals) {
      const service = this.#model.service(key);
      if (service && !planned.has(key)) fresh.push(this.#planned(service));
    }
  }

  /** Moves the Service's claims to the frontends of its new plans, and collects who is concerned by that. */
  #claim({ key, before, plans }: Fresh, rivals: Set<string>): void {
    for (const { frontends, conflicts, port } of before) {
      const release = (frontend: Frontend) => {
        for (const rival of this.#claims.rivals(key, frontend, port.protocol)) rivals.add(rival);
        this.#claims.remove(key, frontend, port.protocol);
      };
      frontends.forEach(release);
      for (const { frontend } of conflicts) release(frontend);
    }
    for (const { frontends, port } of plans) {
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

interface Fresh {
  readonly key: string;
  readonly before: readonly ServicePortPlan[];
  readonly plans: readonly ServicePortPlan[];
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
