import type { EndpointSlice, Service } from '../../src/api/index.ts';
import { type LocalDetector, Model, parseNodePortAddresses } from '../../src/model/index.ts';
import type { Measure, Mode, ModeEvents, ModeFailure, ModeSettings, SyncReport } from '../../src/modes/mode.ts';
import { type SetAside, setAsideName } from '../../src/modes/set-aside.ts';
import { type Family, type Ip, parseCidr } from '../../src/net/index.ts';
import { type PlanDiff, Planner, type PlanOptions, type ServicePortPlan } from '../../src/plan/index.ts';
import type { EventTarget } from './cluster-events.ts';

const POD_CIDRS = { IPv4: '10.244.0.0/16', IPv6: 'fd00:10:244::/48' } as const;
const NODE_IPS = { IPv4: '192.168.0.2', IPv6: 'fd00:192:168::2' } as const;
const NODE = { name: 'node-a', zone: 'zone-a' } as const;

export function detectorFor(family: Family): LocalDetector | undefined {
  const cidr = parseCidr(POD_CIDRS[family]);
  return cidr && { kind: 'source-cidr', cidr };
}

/** The settings of a mode in tests. */
export function modeSettingsFor(family: Family, overrides: Partial<ModeSettings> = {}): ModeSettings {
  return {
    localDetector: detectorFor(family),
    masqueradeAll: false,
    masqueradeMark: 0x4000,
    nodePortAddresses: parseNodePortAddresses(family, []),
    nodePortIPs: [],
    serviceCIDRs: ['10.96.0.0/12', 'fd00:10:96::/108'],
    ...overrides,
  };
}

/** Keeps what a mode reports. */
export class RecordedEvents implements ModeEvents {
  /** Reports as lines: `repaired: …`, `failed: …`, `notice: …`, `progress …`. */
  readonly lines: string[] = [];
  readonly setAsides: SetAside[] = [];
  readonly measures: Measure[] = [];
  readonly failures: ModeFailure[] = [];

  progress = (family: Family, done: number, of: number): void => {
    this.lines.push(`progress ${family} ${done}/${of}`);
  };
  setAside = (port: SetAside): void => {
    this.setAsides.push(port);
  };
  driftRepaired: ModeEvents['driftRepaired'] = (_family, { cause, written }) => {
    this.lines.push(`repaired: ${cause}; ${written}`);
  };
  failed = (failure: ModeFailure): void => {
    this.failures.push(failure);
    this.lines.push(`failed to ${failure.action}: ${failure.error}`);
  };
  measured = (_family: Family, measure: Measure): void => {
    this.measures.push(measure);
  };
  notice = (_family: Family, message: string): void => {
    this.lines.push(`notice: ${message}`);
  };

  /** `default/web:http EEXIST`, for each service port that was set aside. */
  get setAsideLines(): readonly string[] {
    return this.setAsides.map(port => `${setAsideName(port)} ${port.cause.errno ?? port.cause.code}`);
  }
}

export interface HarnessOptions {
  readonly families?: readonly Family[];
  readonly settings?: Partial<ModeSettings>;
  readonly plan?: Partial<PlanOptions>;
}

/** A mode that is fed with objects. Its reports are kept in `events`. */
export class ModeHarness<M extends Mode> implements EventTarget {
  readonly events = new RecordedEvents();
  readonly #create: (events: ModeEvents) => M;
  readonly #families: readonly Family[];
  readonly #settings: Partial<ModeSettings>;
  readonly #models: ReadonlyMap<Family, Model>;
  readonly #planners: ReadonlyMap<Family, Planner>;
  #mode: M;

  constructor(create: (events: ModeEvents) => M, { families = ['IPv4'], settings = {}, plan }: HarnessOptions = {}) {
    this.#create = create;
    this.#families = families;
    this.#settings = settings;
    this.#models = new Map(families.map(family => [family, modelFor(family, plan?.node?.name)]));
    this.#planners = new Map(Array.from(this.#models, ([family, model]) => [family, plannerFor(model, family, plan)]));
    this.#mode = create(this.events);
  }

  get mode(): M {
    return this.#mode;
  }

  setService(service: Service): void {
    for (const model of this.#models.values()) model.setService(service);
  }

  setEndpointSlice(slice: EndpointSlice): void {
    for (const model of this.#models.values()) model.setEndpointSlice(slice);
  }

  set(...objects: readonly (Service | EndpointSlice)[]): void {
    for (const object of objects) {
      if (object.kind === 'Service') this.setService(object);
      else this.setEndpointSlice(object);
    }
  }

  deleteService(key: string): void {
    for (const model of this.#models.values()) model.deleteService(key);
  }

  deleteEndpointSlice(key: string): void {
    for (const model of this.#models.values()) model.deleteEndpointSlice(key);
  }

  /** The plans of all objects. Plans that no sync has written yet are not written later either. */
  plans(family: Family = this.#families[0] ?? 'IPv4'): readonly ServicePortPlan[] {
    this.#takePlans(family);
    return [...(this.#planners.get(family)?.plans() ?? [])];
  }

  /** Syncs the families one after the other, and returns the report of the last one. */
  async sync(settings: Partial<ModeSettings> = {}, families = this.#families): Promise<SyncReport> {
    let report: SyncReport = { full: false };
    for (const family of families) report = await this.#sync(family, this.#takePlans(family), settings);
    return report;
  }

  /** A new process with the same objects. */
  async restart(create: (events: ModeEvents) => M = this.#create): Promise<SyncReport> {
    await this.#mode.close();
    this.#mode = create(this.events);
    let report: SyncReport = { full: false };
    for (const family of this.#families) {
      const added = [...(this.#planners.get(family)?.plans() ?? [])];
      report = await this.#sync(family, { added, updated: [], removed: [] }, {});
    }
    return report;
  }

  setAside(): readonly SetAside[] {
    return this.#mode.setAside();
  }

  close(): Promise<void> {
    return this.#mode.close();
  }

  #sync(family: Family, plans: PlanDiff, settings: Partial<ModeSettings>): Promise<SyncReport> {
    return this.#mode.sync(family, plans, modeSettingsFor(family, { ...this.#settings, ...settings }));
  }

  #takePlans(family: Family): PlanDiff {
    const [model, planner] = [this.#models.get(family), this.#planners.get(family)];
    if (!model || !planner) throw new RangeError(`the harness does not serve ${family}`);
    return planner.update(model.take());
  }
}

function modelFor(family: Family, nodeName: string = NODE.name): Model {
  return new Model({ family, nodeName, startedAt: 0, report: () => {} });
}

function plannerFor(model: Model, family: Family, plan: Partial<PlanOptions> = {}): Planner {
  return new Planner(model, {
    node: NODE,
    nodeIP: NODE_IPS[family] as Ip,
    localDetector: detectorFor(family),
    masqueradeAll: false,
    allowExternalIPs: true,
    ...plan,
  });
}
