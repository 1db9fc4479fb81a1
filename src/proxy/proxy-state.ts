import {
  ANNOTATION_BALANCE,
  type EndpointSlice,
  LABEL_SERVICE_NAME,
  type Node,
  objectKey,
  type Service,
  type ServiceCIDR,
} from '../api/index.ts';
import type { Feedback } from '../feedback/index.ts';
import { type Change, latestOf } from '../lib/change.ts';
import type { ReportProblem } from '../lib/problem.ts';
import { type Algorithm, Model, type ModelDiff } from '../model/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import {
  derivePlanOptions,
  type NodePlanOptions,
  type PlanDiff,
  Planner,
  type PlanSettings,
  samePlanOptions,
} from '../plan/index.ts';
import { type BalancingMode, unavailableBalance } from './unavailable-balance.ts';

export interface ProxyStateOptions {
  readonly nodeName: string;
  /** The families whose changes are counted. By default both. */
  readonly families?: readonly Family[] | undefined;
  readonly settings: PlanSettings;
  readonly startedAt: number;
  readonly report: ReportProblem;
  /** Without it, the state does not report what the mode cannot do. */
  readonly mode?: BalancingMode | undefined;
  /** A Service, named `ns/name`, begins to ask for what the mode cannot do. Each of its versions is a problem, too. */
  readonly unavailable?: ((service: string, reason: string) => void) | undefined;
  /** What the proxy learns about endpoints while it runs. */
  readonly feedback?: Feedback | undefined;
}

/** What changed in one family since the last take. */
export interface FamilyDiff {
  readonly model: ModelDiff;
  readonly plans: PlanDiff;
}

interface FamilyState {
  readonly model: Model;
  readonly planner: Planner;
}

/** The models and plans of both families, the Node and the service CIDRs. A source feeds it. */
export class ProxyState {
  readonly #options: ProxyStateOptions;
  readonly #countedFamilies: readonly Family[];
  readonly #families: Readonly<Record<Family, FamilyState>>;
  readonly #changes = { services: 0, endpointSlices: 0 };
  readonly #again: Record<Family, Set<string>> = { IPv4: new Set(), IPv6: new Set() };
  readonly #serviceCidrs = new Map<string, readonly string[]>();
  #settings: PlanSettings;
  #ownNode: Node | undefined;
  #planOptions: NodePlanOptions;

  constructor(options: ProxyStateOptions) {
    this.#options = options;
    this.#countedFamilies = options.families ?? FAMILIES;
    this.#settings = options.settings;
    this.#planOptions = derivePlanOptions(options.settings, options.nodeName, undefined);
    const createFamily = (family: Family): FamilyState => {
      const model = new Model({ ...options, family });
      const live = options.feedback?.of(family);
      return { model, planner: new Planner(model, this.#planOptions.families[family], options.report, live) };
    };
    this.#families = { IPv4: createFamily('IPv4'), IPv6: createFamily('IPv6') };
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
    this.#changes.services += this.#countedFamilies.length;
    if (change.type === 'removed') {
      const key = objectKey(change.from.metadata);
      for (const family of FAMILIES) this.#families[family].model.deleteService(key);
      return;
    }
    let algorithm: Algorithm | undefined;
    for (const family of FAMILIES) {
      const [port] = this.#families[family].model.setService(change.to);
      algorithm ??= port?.options.algorithm;
    }
    if (algorithm !== undefined) this.#reportUnavailable(change, algorithm);
  }

  endpointSliceChanged(change: Change<EndpointSlice>): void {
    const { addressType, metadata } = latestOf(change);
    const isCounted = this.#countedFamilies.some(family => family === addressType);
    if (isCounted && metadata.labels[LABEL_SERVICE_NAME]) this.#changes.endpointSlices++;
    const key = objectKey(metadata);
    for (const family of FAMILIES) {
      const { model } = this.#families[family];
      // The API forbids a change of the address type, but an edited manifest may have one.
      if (change.type === 'removed' || addressType !== family) model.deleteEndpointSlice(key);
      else model.setEndpointSlice(change.to);
    }
  }

  /** Returns true if the plan options changed. */
  nodeChanged(change: Change<Node>): boolean {
    // If the Node is deleted while its proxy runs, it soon comes back. Until then its last version counts.
    if (change.type === 'removed') return false;
    this.#ownNode = change.to;
    return this.#updatePlanOptions();
  }

  setSettings(settings: PlanSettings): void {
    this.#settings = settings;
    this.#updatePlanOptions();
  }

  serviceCidrChanged(change: Change<ServiceCIDR>): void {
    const { name } = latestOf(change).metadata;
    if (change.type === 'removed') this.#serviceCidrs.delete(name);
    else this.#serviceCidrs.set(name, change.to.cidrs);
  }

  /** The number of changes so far. Changes of Services count once for each family. */
  get changes(): Readonly<{ services: number; endpointSlices: number }> {
    return { ...this.#changes };
  }

  /** Returns what changed in both families since the last take. */
  take(): Readonly<Record<Family, FamilyDiff>> {
    return { IPv4: this.takeFamily('IPv4'), IPv6: this.takeFamily('IPv6') };
  }

  takeFamily(family: Family): FamilyDiff {
    const { model, planner } = this.#families[family];
    const diff = model.take();
    this.#options.feedback?.changed(model, diff.services, this.#planOptions.families[family]);
    const again = this.#again[family];
    this.#again[family] = new Set();
    return { model: diff, plans: planner.update(diff, this.#planOptions.families[family], again) };
  }

  /** The endpoints of a Service get other shares with the next take, although no object changed. */
  replan(family: Family, service: string): void {
    this.#again[family].add(service);
  }

  #reportUnavailable(change: Exclude<Change<Service>, { type: 'removed' }>, algorithm: Algorithm): void {
    const { mode, report, unavailable } = this.#options;
    const { metadata } = change.to;
    const problem = mode && unavailableBalance(metadata, algorithm, mode);
    if (!problem) return;
    report(problem);
    const before = change.type === 'updated' ? change.from.metadata.annotations[ANNOTATION_BALANCE] : undefined;
    if (before !== metadata.annotations[ANNOTATION_BALANCE]) unavailable?.(objectKey(metadata), problem.message);
  }

  /** Returns true if the plan options changed. */
  #updatePlanOptions(): boolean {
    const next = derivePlanOptions(this.#settings, this.#options.nodeName, this.#ownNode);
    if (samePlanOptions(next, this.#planOptions)) return false;
    this.#planOptions = next;
    return true;
  }
}
