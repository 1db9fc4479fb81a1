import { Turns } from '../../lib/turns.ts';
import { type Family, type Ip, isLinkLocal, parseCidr } from '../../net/index.ts';
import type { MetricSet } from '../../observe/metrics/index.ts';
import type { EndedEndpoint } from '../../plan/index.ts';
import type { ModeMachine } from '../descriptor.ts';
import { openIptables } from '../iptables-programs.ts';
import type { MeasureObserver, ModeSettings } from '../mode.ts';
import { NodeAddresses } from '../node-addresses.ts';
import type { PlanBook } from '../plan-book.ts';
import { ModeShell, type ShellOptions } from '../shell.ts';
import { type ServicePortTraffic, sumOfTraffic } from '../traffic/index.ts';
import { DRIFT_SCHEDULE, LinkWatch } from './drift.ts';
import { openSockets, type Sockets } from './kernel-state/sockets.ts';
import { ipvsMetrics } from './metrics.ts';
import { LINK } from './names.ts';
import { applyKernelSettings } from './settings/kernel-settings.ts';
import type { IpvsOptions } from './settings/options.ts';
import { readConnectionCounts, readStatistics } from './statistics/read-statistics.ts';
import { readTraffic } from './statistics/read-traffic.ts';
import { registerServers } from './statistics/server-metrics.ts';
import type { ServerStatistics, StatisticsOptions } from './statistics/server-statistics.ts';
import { DEFAULT_SCHEDULER } from './wanted/scheduler.ts';
import { IpvsWriter } from './writer.ts';

export interface IpvsModeOptions extends IpvsOptions, ModeMachine, ShellOptions {}

/** ipvs mode: virtual servers, the addresses that lead packets to them, and sets with rules that masquerade. */
export class IpvsMode extends ModeShell<IpvsWriter> {
  readonly #options: IpvsModeOptions;
  readonly #sockets: Sockets;
  readonly #addresses: NodeAddresses;
  readonly #linkWatch: LinkWatch;
  /** The iptables programs of both families have one lock. */
  readonly #programTurns = new Turns();
  /** Statistics are read one after the other, over one socket. */
  readonly #readings = new Turns();
  /** Undefined if the mode must list the addresses again. */
  #nodeIPs: readonly Ip[] | undefined;
  #hasKernelSettings = false;

  constructor(options: IpvsModeOptions) {
    super(options, DRIFT_SCHEDULE);
    this.#options = options;
    this.#linkWatch = new LinkWatch({
      clock: this.clock,
      families: () => this.writers,
      drifted: (family, drift) => this.reportDrift(family, drift),
    });
    this.#sockets = openSockets(options.namespace);
    try {
      this.#addresses = this.#watchAddresses();
    } catch (error) {
      this.#sockets.close();
      throw error;
    }
  }

  /** Whether iptables had the chain before the first sync. */
  hadChain(chain: string): boolean {
    return [...this.writers.values()].some(writer => writer.hadChain(chain));
  }

  /** Does not wait for a sync. Undefined if the mode is closed. */
  statistics(options?: StatisticsOptions): Promise<ServerStatistics | undefined> {
    return this.#readings.take(async () =>
      this.isClosed ? undefined : readStatistics(this.#sockets.statistics, this.writers, options),
    );
  }

  connectionCounts(): Promise<ReadonlyMap<string, number> | undefined> {
    return this.#readings.take(async () =>
      this.isClosed ? undefined : readConnectionCounts(this.#sockets.statistics, this.writers),
    );
  }

  /** Reads all virtual servers, and the real servers of those that had connections. */
  traffic(): Promise<readonly ServicePortTraffic[] | undefined> {
    return this.#readings.take(async () =>
      this.isClosed ? undefined : sumOfTraffic([readTraffic(this.#sockets.statistics, this.writers)]),
    );
  }

  /** The kernel keeps connections of its own for real servers that leave. Other parts of the proxy count them. */
  async endConnections(ended: readonly EndedEndpoint[]): Promise<undefined> {
    await this.turn(async () => {
      for (const writer of this.writers.values()) await writer.endConnections(ended);
    });
  }

  protected createMetrics(metrics: MetricSet): MeasureObserver {
    registerServers(metrics, this.clock, options => this.statistics(options));
    return ipvsMetrics(metrics);
  }

  protected async open(family: Family, settings: ModeSettings, book: PlanBook): Promise<IpvsWriter> {
    this.#applyKernelSettings();
    const { namespace, programs, scheduler, strictARP, excludeCIDRs = [] } = this.#options;
    const iptables = await openIptables(family, { ...programs, namespace }, { turns: this.#programTurns });
    const options = {
      family,
      settings,
      iptables,
      namespace,
      strictARP,
      scheduler: scheduler || DEFAULT_SCHEDULER,
      excludeCIDRs: excludeCIDRs.flatMap(text => parseCidr(text) ?? []),
      events: this.events,
      nodeIPs: () => this.#listNodeIPs(),
      turn: <T>(work: () => Promise<T>) => this.turnWithoutChange(work),
    };
    return new IpvsWriter(options, this.#sockets, book);
  }

  protected override stopWatching(): void {
    this.#linkWatch.close();
    this.#addresses.close();
  }

  protected async release(idle: Promise<void>): Promise<void> {
    await idle;
    await this.#readings.take(async () => this.#sockets.close());
  }

  #applyKernelSettings(): void {
    if (this.#hasKernelSettings) return;
    const { strictARP, timeouts, namespace } = this.#options;
    applyKernelSettings({ strictARP, timeouts, namespace }, error =>
      this.events.failed({ action: 'set the timeouts of ipvs', error }),
    );
    this.#hasKernelSettings = true;
  }

  #watchAddresses(): NodeAddresses {
    return new NodeAddresses(
      this.#options.namespace,
      ip => this.#addressChanged(ip),
      error => this.events.failed({ action: "watch the node's addresses", error }),
      { exceptLink: LINK, exceptLinkChanged: event => this.#linkWatch.changed(event), clock: this.clock },
    );
  }

  /** Node ports follow at once. The kernel gives a link-local address to the link of every pod; those do not count. */
  #addressChanged(ip: Ip | undefined): void {
    if (ip !== undefined && isLinkLocal(ip)) return;
    this.#nodeIPs = undefined;
    this.writeSoon();
  }

  #listNodeIPs(): readonly Ip[] {
    this.#nodeIPs ??= this.#addresses.list();
    return this.#nodeIPs;
  }
}
