import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { IpvsMode } from '../../src/modes/ipvs/mode.ts';
import type { IpvsOptions } from '../../src/modes/ipvs/settings/options.ts';
import type { ServerStatistics } from '../../src/modes/ipvs/statistics/server-statistics.ts';
import type { ModeSettings, SyncReport } from '../../src/modes/mode.ts';
import { setAsideName } from '../../src/modes/set-aside.ts';
import type { Family } from '../../src/net/index.ts';
import { ManualClock } from './manual-clock.ts';
import { ModeHarness } from './mode-harness.ts';

/** One family of ipvs mode in a namespace. Time passes only in `pass`. */
export class IpvsHarness extends ModeHarness<IpvsMode> {
  readonly namespace: NetworkNamespace;
  readonly #clock: ManualClock;

  constructor(namespace: NetworkNamespace, options: IpvsOptions = {}, family: Family = 'IPv4') {
    const clock = new ManualClock();
    super(events => new IpvsMode({ ...options, namespace, clock, events }), { families: [family] });
    this.namespace = namespace;
    this.#clock = clock;
  }

  override sync(settings?: Partial<ModeSettings>): Promise<SyncReport> {
    this.events.measures.length = 0;
    return super.sync(settings);
  }

  /** How many messages the mode has sent to the kernel since the last sync began. */
  get messages(): number {
    return this.events.measures.reduce((sum, measure) => sum + (measure.kind === 'batch' ? measure.objects : 0), 0);
  }

  /** The names of the service ports that are set aside. */
  get setAsideNames(): readonly string[] {
    return this.setAside().map(setAsideName);
  }

  /** Lets time pass, and waits until the work that is due then has ended. */
  async pass(milliseconds: number): Promise<void> {
    await this.#clock.advance(milliseconds);
    await this.mode.settle();
  }

  async statistics(): Promise<ServerStatistics> {
    const statistics = await this.mode.statistics();
    if (!statistics) throw new Error('the mode is closed');
    return statistics;
  }
}
