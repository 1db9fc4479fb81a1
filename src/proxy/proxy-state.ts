import {
  type EndpointSlice,
  LABEL_SERVICE_NAME,
  type Node,
  objectKey,
  type Service,
  type ServiceCIDR,
} from '../api/index.ts';
import { type Change, latestOf } from '../lib/change.ts';
import type { ReportProblem } from '../lib/problem.ts';
import { Model, type ModelDiff } from '../model/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import {
  derivePlanOptions,
  type NodePlanOptions,
  type PlanDiff,
  Planner,
  type PlanSettings,
  samePlanOptions,
} from '../plan/index.ts';

export interface ProxyStateOptions {
  readonly nodeName: string;
  /** Those that changes are counted for; both unless told. */
  readonly families?: readonly Family[] | undefined;
  readonly settings: PlanSettings;
  readonly startedAt: number;
  readonly report: ReportProblem;
}

/** What one family has new since the last take. */
export interface FamilyDiff {
  readonly model: ModelDiff;
  readonly plans: PlanDiff;
}

interface FamilyState {
  readonly model: Model;
  readonly planner: Planner;
}

/** All that is known: models and plans of both families, the node and the service CIDRs. A source feeds it. */
export class ProxyState {
  readonly #options: ProxyStateOptions;
  readonly #families: Readonly<Record<Family, FamilyState>>;
  readonly #counts = { services: 0, endpointSlices: 0 };
  readonly #serviceCidrs = new Map<string, readonly string[]>();
  #settings: PlanSettings;
  #ownNode: Node | undefined;
  #planOptions: NodePlanOptions;

  get #countedFamilies(): readonly Family[] {
    return this.#options.families ?? FAMILIES;
  }

  constructor(options: ProxyStateOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#planOptions = derivePlanOptions(options.settings, options.nodeName, undefined);
    const family = (family: Family): FamilyState => {
      const model = new Model({ ...options, family });
      return { model, planner: new Planner(model, this.#planOptions.families[family]) };
    };
    this.#families = { IPv4: family('IPv4'), IPv6: family('IPv6') };
  }

  get ownNode(): Node | undefined {
    return this.#ownNode;
  }

  get nodeOptions(): NodePlanOptions {
    return this.#planOptions;
  }

  get serviceCidrs(): readonly string[] {
    return [...new Set([...this.#serviceCidrs.values()].flat())].sort();
  }

  family(family: Family): FamilyState {
    return this.#families[family];
  }

  serviceChanged(change: Change<Service>): void {
    this.#counts.services += this.#countedFamilies.length;
    for (const family of FAMILIES) {
      const { model } = this.#families[family];
      if (change.type === 'removed') model.deleteService(objectKey(change.from.metadata));
      else model.setService(change.to);
    }
  }

  endpointSliceChanged(change: Change<EndpointSlice>): void {
    const { addressType, metadata } = latestOf(change);
    const isCounted = this.#countedFamilies.some(family => family === addressType);
    if (isCounted && metadata.labels[LABEL_SERVICE_NAME]) this.#counts.endpointSlices++;
    const key = objectKey(metadata);
    for (const family of FAMILIES) {
      const { model } = this.#families[family];
      // An address type cannot be changed by the API, but a manifest can be rewritten.
      if (change.type === 'removed' || addressType !== family) model.deleteEndpointSlice(key);
      else model.setEndpointSlice(change.to);
    }
  }

  /** True if plans depend on what changed. */
  nodeChanged(change: Change<Node>): boolean {
    // A Node that vanished while its proxy runs is about to come back; what was known of it stays.
    if (change.type === 'removed') return false;
    this.#ownNode = change.to;
    return this.#setPlanOptions();
  }

  setSettings(settings: PlanSettings): void {
    this.#settings = settings;
    this.#setPlanOptions();
  }

  serviceCidrChanged(change: Change<ServiceCIDR>): void {
    const { name } = latestOf(change).metadata;
    if (change.type === 'removed') this.#serviceCidrs.delete(name);
    else this.#serviceCidrs.set(name, change.to.cidrs);
  }

  /** Changes told so far; those of Services once for each family. */
  get changes(): Readonly<{ services: number; endpointSlices: number }> {
    return this.#counts;
  }

  /** What changed since the last call, for both families. */
  take(): Readonly<Record<Family, FamilyDiff>> {
    return { IPv4: this.takeFamily('IPv4'), IPv6: this.takeFamily('IPv6') };
  }

  takeFamily(family: Family): FamilyDiff {
    const { model, planner } = this.#families[family];
    const diff = model.take();
    return { model: diff, plans: planner.update(diff, this.#planOptions.families[family]) };
  }

  #setPlanOptions(): boolean {
    const next = derivePlanOptions(this.#settings, this.#options.nodeName, this.#ownNode);
    if (samePlanOptions(next, this.#planOptions)) return false;
    this.#planOptions = next;
    return true;
  }
}
