import type { EndpointSlice, Service } from '../../src/api/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { Model } from '../../src/model/index.ts';
import type { ModeEvents, ModeSettings, ServerStatistics, SetAside } from '../../src/modes/index.ts';
import { type IpvsConfig, IpvsMode } from '../../src/modes/ipvs/index.ts';
import type { Family, Ip } from '../../src/net/index.ts';
import { Planner } from '../../src/plan/index.ts';
import { ManualClock } from './manual-clock.ts';
import { modeSettingsFor } from './mode-settings.ts';

/** One family of ipvs mode in a namespace, fed with objects. What it told is kept; time passes when it is told to. */
export class IpvsUnderTest {
  readonly told: string[] = [];
  readonly refused: SetAside[] = [];
  readonly settings: ModeSettings;
  /** Messages to the kernel since the last time it was asked. */
  messages = 0;
  clock = new ManualClock();
  readonly #namespace: NetworkNamespace;
  readonly #family: Family;
  readonly #config: IpvsConfig;
  readonly #model: Model;
  readonly #planner: Planner;
  #mode: IpvsMode;

  constructor(namespace: NetworkNamespace, config: IpvsConfig = {}, family: Family = 'IPv4') {
    this.#namespace = namespace;
    this.#family = family;
    this.#config = config;
    this.settings = modeSettingsFor(family);
    this.#model = new Model({ family, nodeName: 'node-a', startedAt: 0, report: () => {} });
    this.#planner = new Planner(this.#model, {
      node: { name: 'node-a', zone: 'zone-a' },
      nodeIP: (family === 'IPv4' ? '192.168.0.2' : 'fd00:192:168::2') as Ip,
      localDetector: this.settings.localDetector,
      masqueradeAll: false,
      allowExternalIPs: true,
    });
    this.#mode = this.#open();
  }

  set(...objects: readonly (Service | EndpointSlice)[]): void {
    for (const object of objects) {
      if (object.kind === 'Service') this.#model.setService(object);
      else this.#model.setEndpointSlice(object);
    }
  }

  deleteService(name: string): void {
    this.#model.deleteService(`default/${name}`);
  }

  async sync(settings: Partial<ModeSettings> = {}): Promise<void> {
    this.messages = 0;
    await this.#mode.sync(this.#family, this.#planner.update(this.#model.take()), { ...this.settings, ...settings });
  }

  /** Lets time pass and waits for what is done then. */
  async pass(milliseconds: number): Promise<void> {
    await this.clock.advance(milliseconds);
    await this.#mode.settle();
  }

  settle(): Promise<void> {
    return this.#mode.settle();
  }

  setAside(): readonly SetAside[] {
    return this.#mode.setAside();
  }

  async statistics(): Promise<ServerStatistics> {
    const statistics = await this.#mode.statistics();
    if (!statistics) throw new Error('the mode is closed');
    return statistics;
  }

  /** A new process on the same objects. */
  async restart(): Promise<void> {
    await this.#mode.close();
    this.clock = new ManualClock();
    this.messages = 0;
    this.#mode = this.#open();
    const plans = { added: [...this.#planner.plans()], updated: [], removed: [] };
    await this.#mode.sync(this.#family, plans, this.settings);
  }

  close(): Promise<void> {
    return this.#mode.close();
  }

  #open(): IpvsMode {
    const events: ModeEvents = {
      progress: (family, done, of) => this.told.push(`progress ${family} ${done}/${of}`),
      setAside: port => this.refused.push(port),
      driftRepaired: (_family, what) => this.told.push(`repaired: ${what}`),
      measured: (_family, measure) => {
        if (measure.kind === 'batch') this.messages += measure.objects;
      },
      noticed: (_family, what) => this.told.push(`noticed: ${what}`),
      failed: (what, error) => this.told.push(`failed: ${what}: ${error}`),
    };
    return new IpvsMode({ ...this.#config, namespace: this.#namespace, clock: this.clock, events });
  }
}
