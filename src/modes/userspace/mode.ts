import type { Iptables } from '../../kernel/iptables/index.ts';
import { sleep } from '../../lib/sleep.ts';
import { Turns } from '../../lib/turns.ts';
import { withTimeout } from '../../lib/with-timeout.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { MetricSet } from '../../observe/metrics/index.ts';
import type { EndedEndpoint } from '../../plan/index.ts';
import type { ModeContext } from '../descriptor.ts';
import { openIptables } from '../iptables-programs.ts';
import type { MeasureObserver, ModeSettings } from '../mode.ts';
import type { PlanBook } from '../plan-book.ts';
import { endConnections } from '../relay/index.ts';
import { ModeShell } from '../shell.ts';
import { type ServicePortTraffic, sumOfTraffic } from '../traffic/index.ts';
import type { ServiceCounters } from './counters/service-counters.ts';
import { userspaceMetrics } from './metrics.ts';
import { PortReservations } from './portals/port-reservations.ts';
import { PortalRules } from './portals/portal-rules.ts';
import { listenIPOf } from './portals/render-options.ts';
import { PortAllocator, type PortRange } from './proxies/port-allocator.ts';
import { SharedSockets, type SocketOptions } from './proxies/shared-sockets.ts';
import { checkListenIP } from './support.ts';
import { UserspaceWriter } from './writer.ts';

export interface UserspaceOptions extends SocketOptions {
  /** `bindAddress`: where proxies of its family listen. The default is all addresses. Not a loopback address. */
  readonly listenIP?: Ip | undefined;
  /** `portRange`: where proxies listen. By default the kernel chooses the ports. */
  readonly portRange?: PortRange | undefined;
  /** How long open connections may go on when the mode closes. */
  readonly drainMs?: number | undefined;
  /** How long the mode waits when it closes until the rules refuse. */
  readonly refuseMs?: number | undefined;
}

export interface UserspaceModeOptions extends UserspaceOptions, ModeContext {}

const DRAIN_MS = 5000;
const DRAIN_LOOK_MS = 20;
const REFUSE_MS = 5000;

/** userspace mode: rules lead to sockets of this process, which copies bytes between clients and endpoints. */
export class UserspaceMode extends ModeShell<UserspaceWriter> {
  readonly #options: UserspaceModeOptions;
  readonly #ports: PortAllocator;
  readonly #sockets: SharedSockets;
  /** The legacy iptables programs of both families have the same lock. */
  readonly #programTurns = new Turns();
  /** No write may begin any more. */
  #isReleased = false;

  constructor(options: UserspaceModeOptions) {
    super(options, { thoroughMs: 'sync-period' });
    checkListenIP(options.listenIP);
    this.#options = options;
    this.#ports = new PortAllocator(options.portRange);
    this.#sockets = new SharedSockets(options, options.namespace, this.clock, this.events);
  }

  /** What went through each existing service port. */
  counters(): readonly ServiceCounters[] {
    return [...this.writers.values()].flatMap(({ counters }) => counters);
  }

  async connectionCounts(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { service, connections } of this.counters()) {
      counts.set(service, (counts.get(service) ?? 0) + connections);
    }
    return counts;
  }

  async traffic(): Promise<readonly ServicePortTraffic[]> {
    return await sumOfTraffic(Array.from(this.writers.values(), writer => writer.traffic()));
  }

  async endConnections(ended: readonly EndedEndpoint[]): Promise<ReadonlyMap<EndedEndpoint, number>> {
    return endConnections(this.#sockets.resources, ended);
  }

  /** Open TCP connections, with those of Services that are gone. */
  get tcpConnections(): number {
    return this.#sockets.resources.connections.size;
  }

  /** Bytes that the mode read and that wait for slow readers. */
  get heldBytes(): number {
    return this.#sockets.resources.heldBytes;
  }

  get udpClients(): number {
    return this.#sockets.resources.udpClients.size;
  }

  protected createMetrics(metrics: MetricSet): MeasureObserver {
    return userspaceMetrics(metrics, () => this.counters());
  }

  protected async open(family: Family, _settings: ModeSettings, book: PlanBook): Promise<UserspaceWriter> {
    const { resources, addresses, conntrack } = this.#sockets;
    const iptables = await this.#openPrograms(family);
    if (this.#isReleased) throw new Error('userspace mode is closed');
    return new UserspaceWriter({
      family,
      book,
      rules: new PortalRules(iptables),
      reservations: new PortReservations(resources, family),
      ports: this.#ports,
      resources,
      addresses,
      conntrack,
      events: this.events,
      listenIP: listenIPOf(family, this.#options.listenIP),
      turn: work => this.turn(work),
      turnWithoutChange: work => this.turnWithoutChange(work),
    });
  }

  /**
   * First makes the rules refuse, because another program may get the port of a proxy later. Then accepts no more
   * connections, and lets the open ones end for a while. All of this takes a few seconds, even if programs hang.
   */
  protected async release(idle: Promise<void>): Promise<void> {
    const { refuseMs = REFUSE_MS } = this.#options;
    await withTimeout(this.#refuseAll(idle, refuseMs), refuseMs, this.clock).catch(error =>
      this.events.failed({ action: 'make the rules refuse; they may lead to ports that other programs get', error }),
    );
    this.#isReleased = true;
    for (const writer of this.writers.values()) writer.close();
    await this.#drain();
    this.#sockets.close();
  }

  /** Waits until nothing else runs, however long that takes: what runs may write rules that lead to proxies. */
  async #refuseAll(idle: Promise<void>, timeoutMs: number): Promise<void> {
    await idle;
    for (const [family, writer] of this.writers) {
      try {
        await writer.refuse(await this.#openPrograms(family, timeoutMs));
      } catch (error) {
        this.events.failed({ family, action: `make the ${family} rules refuse`, error });
      }
    }
  }

  #openPrograms(family: Family, timeoutMs = this.#options.programs?.timeoutMs): Promise<Iptables> {
    const { namespace, programs } = this.#options;
    return openIptables(family, { ...programs, namespace, timeoutMs }, { turns: this.#programTurns });
  }

  async #drain(): Promise<void> {
    const { connections } = this.#sockets.resources;
    const end = this.clock.elapsed() + (this.#options.drainMs ?? DRAIN_MS);
    while (connections.size > 0 && this.clock.elapsed() < end) await sleep(DRAIN_LOOK_MS, this.clock);
    for (const connection of connections) connection.break();
  }
}
