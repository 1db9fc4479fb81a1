import { IptablesError, type IptablesRun } from '../../kernel/iptables/index.ts';
import { Turns } from '../../lib/turns.ts';
import type { Family } from '../../net/index.ts';
import type { MetricSet } from '../../observe/metrics/index.ts';
import type { ModeMachine } from '../descriptor.ts';
import { openIptables } from '../iptables-programs.ts';
import type { MeasureObserver, ModeSettings } from '../mode.ts';
import type { PlanBook } from '../plan-book.ts';
import { ModeShell, type ShellOptions } from '../shell.ts';
import { FlowTraffic, type ServicePortTraffic, sumOfTraffic } from '../traffic/index.ts';
import { PacketCounters } from './machine/read-packet-counters.ts';
import { iptablesMetrics, packetMetrics } from './metrics.ts';
import { longLockWait } from './support.ts';
import { IptablesWriter } from './writer.ts';

export interface IptablesOptions {
  /** The mode reads the counters of its rules when a caller asks for traffic. */
  readonly countConnections?: boolean | undefined;
  /** Node ports also accept connections to 127.0.0.1, if the node port addresses include it. The default is true. */
  readonly localhostNodePorts?: boolean | undefined;
  /** Masqueraded TCP connections of node processes keep their source port if it is free. The default is false. */
  readonly keepNodeSourcePorts?: boolean | undefined;
}

export interface IptablesModeOptions extends IptablesOptions, ModeMachine, ShellOptions {}

/** iptables mode: kube-proxy's classic chains, written with iptables-restore. */
export class IptablesMode extends ModeShell<IptablesWriter> {
  readonly #options: IptablesModeOptions;
  /** The legacy programs of both families have one lock, so one program runs at a time. */
  readonly #programTurns = new Turns();
  /** Families whose other backend the mode has looked at. */
  readonly #noticed = new Set<Family>();
  #packetCounters: PacketCounters | undefined;
  /** Made when a caller first asks for traffic. */
  #flows: FlowTraffic | undefined;

  constructor(options: IptablesModeOptions) {
    super(options, { thoroughMs: 'sync-period' });
    this.#options = options;
  }

  /** Reads the counters of rules, and the flows that the kernel tracks. Undefined if the program fails. */
  async traffic(): Promise<readonly ServicePortTraffic[] | undefined> {
    const { countConnections, namespace } = this.#options;
    if (!countConnections || this.isClosed) return undefined;
    this.#flows ??= new FlowTraffic({
      namespace,
      clock: this.clock,
      plans: () => this.plans(),
      countsConnections: false,
    });
    const rules = Array.from(this.writers.values(), writer => writer.traffic());
    try {
      return await sumOfTraffic([...rules, await this.#flows.read()]);
    } catch (error) {
      if (error instanceof IptablesError) return undefined;
      throw error;
    }
  }

  protected createMetrics(metrics: MetricSet): MeasureObserver {
    try {
      this.#packetCounters = PacketCounters.open(this.#options.namespace);
      packetMetrics(metrics, this.#packetCounters);
    } catch (error) {
      const upstreamLine = "Failed to create nfacct runner, nfacct based metrics won't be available";
      this.events.failed({ action: 'open packet counters', upstreamLine, error });
    }
    return iptablesMetrics(metrics);
  }

  protected async open(family: Family, settings: ModeSettings, book: PlanBook): Promise<IptablesWriter> {
    const { namespace, programs, localhostNodePorts = true, keepNodeSourcePorts = false } = this.#options;
    const onRun = (run: IptablesRun) => {
      const message = longLockWait(run);
      if (message !== undefined) this.events.notice(family, message);
    };
    const iptables = await openIptables(family, { ...programs, namespace }, { turns: this.#programTurns, onRun });
    return new IptablesWriter({
      iptables,
      namespace,
      programs,
      localhostNodePorts,
      keepNodeSourcePorts,
      settings,
      book,
      events: this.events,
      clock: this.clock,
      turn: work => this.turnWithoutChange(work),
    });
  }

  protected override afterWrite(): void {
    for (const [family, writer] of this.writers) {
      if (this.#noticed.has(family)) continue;
      this.#noticed.add(family);
      const action = 'look for rules of the other iptables backend';
      this.turnWithoutChange(() => writer.noticeOtherBackend()).catch(error =>
        this.events.failed({ family, action, error }),
      );
    }
  }

  protected override stopWatching(): void {
    for (const writer of this.writers.values()) writer.close();
  }

  protected async release(idle: Promise<void>): Promise<void> {
    await idle;
    this.#flows?.close();
    this.#packetCounters?.close();
  }
}
