import type { Protocol } from '../api/index.ts';
import { type Change, type Diff, latestOf } from '../lib/change.ts';
import { compareTexts } from '../lib/compare-texts.ts';
import { errorText } from '../lib/error-text.ts';
import { NONE } from '../lib/none.ts';
import type { ReportProblem } from '../lib/problem.ts';
import type { Model, ModelDiff, ServiceState } from '../model/index.ts';
import type { Ip } from '../net/index.ts';
import { AddressOwners, isBetterOwner, type OwnerCandidate } from './address-owners.ts';
import type { LiveEndpoints } from './balance.ts';
import type { Frontend } from './frontend.ts';
import { type PlanOptions, planService, type ServicePortPlan, samePlan, samePort } from './service-port-plan.ts';

const NO_KEYS: ReadonlySet<string> = new Set();

export type PlanDiff = Diff<ServicePortPlan>;

/** A frontend, and the plan that has it. */
export interface PlannedFrontend {
  readonly plan: ServicePortPlan;
  readonly frontend: Frontend;
}

/**
 * The plans of all service ports of one family. The work of an update is proportional to what changed. A Service that
 * cannot be planned is reported, and keeps the plans that it has.
 */
export class Planner {
  readonly #model: Model;
  readonly #report: ReportProblem;
  readonly #plans = new Map<string, readonly ServicePortPlan[]>();
  readonly #owners = new AddressOwners();
  readonly #live: LiveEndpoints | undefined;
  #options: PlanOptions;
  #size = 0;
  #conflictCount = 0;

  constructor(model: Model, options: PlanOptions, report: ReportProblem = () => {}, live?: LiveEndpoints) {
    this.#model = model;
    this.#report = report;
    this.#options = options;
    this.#live = live;
  }

  /**
   * Plans the Services that changed. With other options than before (the node's zone changed, the configuration was
   * reloaded) it plans all Services. `again`: Services that did not change, but whose endpoints get other shares.
   */
  update(
    { services }: Pick<ModelDiff, 'services'>,
    options = this.#options,
    again: ReadonlySet<string> = NO_KEYS,
  ): PlanDiff {
    const planAll = options !== this.#options;
    this.#options = options;
    const replanned = services.flatMap(change => this.#replanChanged(change) ?? []);
    if (planAll) this.#addOthers(replanned, this.#model.services());
    else if (again.size > 0) this.#addOthers(replanned, this.#statesOf(again));
    const rivals = new Set<string>();
    for (const service of replanned) this.#updateCandidates(service, rivals);
    // Rivals did not change themselves, but may get or lose a frontend now.
    if (rivals.size > 0) this.#addOthers(replanned, this.#statesOf(rivals));
    return this.#commit(replanned, rivals.size > 0);
  }

  /** The number of plans. */
  get size(): number {
    return this.#size;
  }

  /** How many frontends Services ask for although another Service has them. */
  get conflictCount(): number {
    return this.#conflictCount;
  }

  plansOf(service: string): readonly ServicePortPlan[] {
    return this.#plans.get(service) ?? NONE;
  }

  *plans(): Generator<ServicePortPlan> {
    for (const plans of this.#plans.values()) yield* plans;
  }

  /** The frontend that owns an address and port. `ip` is undefined for a node port. Costs the same for any number. */
  frontendAt(ip: Ip | undefined, port: number, protocol: Protocol): PlannedFrontend | undefined {
    return this.#frontendsAt(ip, port, protocol, ({ frontends }) => frontends)[0];
  }

  /** Frontends that Services ask for at an address and port but that another Service owns, by the Services' names. */
  lostFrontendsAt(ip: Ip | undefined, port: number, protocol: Protocol): readonly PlannedFrontend[] {
    return this.#frontendsAt(ip, port, protocol, ({ conflicts }) => conflicts.map(({ frontend }) => frontend));
  }

  /** The frontends at an address, whatever their port and protocol are. */
  frontendsWithIP(ip: Ip): readonly PlannedFrontend[] {
    return this.#owners
      .candidatesAt(ip)
      .toSorted(compareTexts)
      .flatMap(service => this.plansOf(service))
      .flatMap(plan => plan.frontends.filter(frontend => frontend.ip === ip).map(frontend => ({ plan, frontend })));
  }

  #frontendsAt(
    ip: Ip | undefined,
    port: number,
    protocol: Protocol,
    frontendsOf: (plan: ServicePortPlan) => readonly Frontend[],
  ): readonly PlannedFrontend[] {
    return this.#owners
      .candidatesFor(ip, port, protocol)
      .toSorted(compareTexts)
      .flatMap(service => this.plansOf(service))
      .filter(plan => plan.port.protocol === protocol)
      .flatMap(plan => frontendsOf(plan).map(frontend => ({ plan, frontend })))
      .filter(({ frontend }) => frontend.ip === ip && frontend.port === port);
  }

  #replanChanged(change: Change<ServiceState>): ReplannedService | undefined {
    if (change.type !== 'removed') return this.#replan(change.to);
    const { key } = latestOf(change);
    return { key, from: this.plansOf(key), to: NONE };
  }

  #replan(service: ServiceState): ReplannedService | undefined {
    const { key } = service;
    try {
      return { key, from: this.plansOf(key), to: planService(service, this.#options, this.#live) };
    } catch (error) {
      const message = `cannot be planned; its last plans stay in use: ${errorText(error)}`;
      this.#report({ kind: 'Service', reason: 'internal', object: `Service ${key}`, message });
      return undefined;
    }
  }

  /** Plans those of the Services that are not in the list yet. */
  #addOthers(replanned: ReplannedService[], services: Iterable<ServiceState>): void {
    const known = new Set(replanned.map(({ key }) => key));
    for (const service of services) {
      if (known.has(service.key)) continue;
      const planned = this.#replan(service);
      if (planned) replanned.push(planned);
    }
  }

  #statesOf(keys: Iterable<string>): readonly ServiceState[] {
    return Array.from(keys, key => this.#model.service(key) ?? []).flat();
  }

  #commit(replanned: readonly ReplannedService[], hasRivals: boolean): PlanDiff {
    const diff: MutableDiff = { added: [], updated: [], removed: [] };
    for (const { key, from, to } of replanned) {
      const plans = addChanges(from, hasRivals ? this.#withoutLostFrontends(key, to) : to, diff);
      this.#conflictCount += conflictsIn(plans) - conflictsIn(from);
      if (plans.length > 0) this.#plans.set(key, plans);
      else this.#plans.delete(key);
    }
    this.#size += diff.added.length - diff.removed.length;
    return diff;
  }

  /**
   * Makes the Service a candidate for the frontends of its new plans only. Adds to `rivals` the Services that want a
   * frontend that the Service gives up or wants now.
   */
  #updateCandidates({ key, from, to }: ReplannedService, rivals: Set<string>): void {
    for (const { frontends, conflicts, port } of from) {
      const release = (frontend: Frontend) => {
        for (const rival of this.#owners.otherCandidates(key, frontend, port.protocol)) rivals.add(rival);
        this.#owners.removeCandidate(key, frontend, port.protocol);
      };
      frontends.forEach(release);
      for (const { frontend } of conflicts) release(frontend);
    }
    for (const { frontends, port } of to) {
      for (const frontend of frontends) {
        for (const rival of this.#owners.addCandidate(key, frontend, port.protocol)) rivals.add(rival).add(key);
      }
    }
  }

  /** Moves frontends that another Service owns to the conflicts of the plan. */
  #withoutLostFrontends(key: string, plans: readonly ServicePortPlan[]): readonly ServicePortPlan[] {
    return plans.map(plan => {
      const conflicts = plan.frontends.flatMap(frontend => {
        const owner = this.#ownerOf(frontend, plan.port.protocol, key);
        return owner === key ? [] : [{ frontend, owner }];
      });
      if (conflicts.length === 0) return plan;
      const lost = new Set(conflicts.map(({ frontend }) => frontend));
      return { ...plan, frontends: plan.frontends.filter(frontend => !lost.has(frontend)), conflicts };
    });
  }

  #ownerOf(frontend: Frontend, protocol: Protocol, service: string): string {
    let owner: OwnerCandidate = { service, kind: frontend.kind };
    for (const rival of this.#owners.otherCandidates(service, frontend, protocol)) {
      const candidate = { service: rival, kind: this.#kindFor(rival, frontend, protocol) };
      if (isBetterOwner(candidate, owner)) owner = candidate;
    }
    return owner.service;
  }

  /** The kind of frontend as which the rival wants the address. Only a cluster IP differs from the others. */
  #kindFor(rival: string, { ip, port }: Frontend, protocol: Protocol): Frontend['kind'] {
    const ports = this.#model.service(rival)?.ports ?? NONE;
    const isClusterIP = ports.some(
      other => other.clusterIP === ip && other.port === port && other.protocol === protocol,
    );
    return isClusterIP ? 'ClusterIP' : 'ExternalIP';
  }
}

/** The plans of one Service before and after. */
interface ReplannedService {
  readonly key: string;
  readonly from: readonly ServicePortPlan[];
  readonly to: readonly ServicePortPlan[];
}

interface MutableDiff extends PlanDiff {
  readonly added: ServicePortPlan[];
  readonly updated: { from: ServicePortPlan; to: ServicePortPlan }[];
  readonly removed: ServicePortPlan[];
}

function conflictsIn(plans: readonly ServicePortPlan[]): number {
  return plans.reduce((count, { conflicts }) => count + conflicts.length, 0);
}

/** Adds the changes to the diff. Returns the new plans. A plan that is equal to an old one is the old object. */
function addChanges(
  before: readonly ServicePortPlan[],
  after: readonly ServicePortPlan[],
  diff: MutableDiff,
): readonly ServicePortPlan[] {
  if (before.length === 0) {
    diff.added.push(...after);
    return after;
  }
  const plans = after.map(to => {
    const from = before.find(plan => samePort(plan.port, to.port));
    if (from === undefined) diff.added.push(to);
    else if (samePlan(from, to)) return from;
    else diff.updated.push({ from, to });
    return to;
  });
  for (const from of before) {
    if (!after.some(plan => samePort(plan.port, from.port))) diff.removed.push(from);
  }
  return plans;
}
