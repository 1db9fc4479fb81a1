import type { EndpointSlice, Service } from '../../src/api/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { Model } from '../../src/model/index.ts';
import type { Measure, ModeEvents, ModeSettings, SetAside, SyncReport } from '../../src/modes/index.ts';
import { IptablesMode, type IptablesModeOptions } from '../../src/modes/iptables/index.ts';
import type { Family, Ip } from '../../src/net/index.ts';
import { Planner, type PlanOptions } from '../../src/plan/index.ts';
import type { EventTarget } from './cluster-events.ts';
import { detectorOf } from './iptables-plans.ts';
import { modeSettingsFor } from './mode-harness.ts';

export interface UnderTestOptions extends Partial<Omit<IptablesModeOptions, 'events' | 'namespace'>> {
  readonly family?: Family;
  readonly settings?: Partial<ModeSettings>;
}

/** One family of iptables mode in a namespace, fed with objects. What it told is kept. */
export class IptablesUnderTest implements EventTarget {
  readonly namespace: NetworkNamespace;
  readonly told: string[] = [];
  readonly refused: SetAside[] = [];
  readonly measured: Measure[] = [];
  readonly #family: Family;
  readonly #settings: ModeSettings;
  readonly #options: UnderTestOptions;
  readonly #model: Model;
  readonly #planner: Planner;
  #mode: IptablesMode;

  constructor(namespace: NetworkNamespace, options: UnderTestOptions = {}) {
    const { family = 'IPv4', settings } = options;
    this.namespace = namespace;
    this.#family = family;
    this.#options = options;
    const localDetector = detectorOf(family === 'IPv4' ? '10.244.0.0/16' : 'fd00:10:244::/48');
    this.#settings = modeSettingsFor(family, { localDetector, ...settings });
    this.#model = new Model({ family, nodeName: 'node-a', startedAt: 0, report: () => {} });
    const plan: PlanOptions = {
      node: { name: 'node-a', zone: 'zone-a' },
      nodeIP: '192.168.0.2' as Ip,
      localDetector: this.#settings.localDetector,
      masqueradeAll: false,
      allowExternalIPs: true,
    };
    this.#planner = new Planner(this.#model, plan);
    this.#mode = this.#open();
  }

  setService(service: Service): void {
    this.#model.setService(service);
  }

  setEndpointSlice(slice: EndpointSlice): void {
    this.#model.setEndpointSlice(slice);
  }

  deleteService(key: string): void {
    this.#model.deleteService(key);
  }

  deleteEndpointSlice(key: string): void {
    this.#model.deleteEndpointSlice(key);
  }

  sync(settings: Partial<ModeSettings> = {}): Promise<SyncReport> {
    const plans = this.#planner.update(this.#model.take());
    return this.#mode.sync(this.#family, plans, { ...this.#settings, ...settings });
  }

  setAside(): readonly SetAside[] {
    return this.#mode.setAside();
  }

  /** A new process on the same objects. */
  async restart(): Promise<SyncReport> {
    await this.#mode.close();
    this.#mode = this.#open();
    const plans = { added: [...this.#planner.plans()], updated: [], removed: [] };
    return this.#mode.sync(this.#family, plans, this.#settings);
  }

  close(): Promise<void> {
    return this.#mode.close();
  }

  #open(): IptablesMode {
    const events: ModeEvents = {
      progress: (family, done, of) => this.told.push(`progress ${family} ${done}/${of}`),
      setAside: port => this.refused.push(port),
      driftRepaired: (_family, what) => this.told.push(`repaired: ${what}`),
      measured: (_family, measure) => this.measured.push(measure),
      noticed: (_family, what) => this.told.push(`noticed: ${what}`),
      failed: (what, error) => this.told.push(`failed: ${what}: ${error}`),
    };
    const { family: _family, settings: _settings, ...options } = this.#options;
    return new IptablesMode({ ...options, namespace: this.namespace, events });
  }
}
