import type { Iptables } from '../../kernel/iptables/index.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { Repeater } from '../../lib/repeater.ts';
import { Turns } from '../../lib/turns.ts';
import { ANY_IP, type Family, familyOf, isLoopback } from '../../net/index.ts';
import type { PlanDiff } from '../../plan/index.ts';
import { openIptables } from '../iptables-programs.ts';
import {
  type Mode,
  type ModeSettings,
  type ServiceCounters,
  type SetAside,
  SYNC_PERIOD_MS,
  type SyncReport,
} from '../mode.ts';
import { OwedPlans } from '../owed-plans.ts';
import { FamilyPortals } from './writer.ts';
import { inTime } from './in-time.ts';
import { Machinery } from './relay/shared-sockets.ts';
import type { UserspaceModeOptions } from './mode-options.ts';
import { PortAllocator } from './relay/port-allocator.ts';
import { PortClaims } from './portals/port-reservations.ts';
import { PortalRules } from './portals/portal-rules.ts';

const DRAIN_MS = 5000;
const DRAIN_LOOK_MS = 20;
const REFUSE_MS = 5000;

/** userspace mode: portals lead to sockets of this process, which copies between clients and endpoints. */
export class UserspaceMode implements Mode {
  readonly #options: UserspaceModeOptions;
  readonly #clock: Clock;
  readonly #machinery: Machinery;
  readonly #ports: PortAllocator;
  /** The legacy programs of both families have one lock. */
  readonly #turns = new Turns();
  readonly #families = new Map<Family, FamilyPortals>();
  readonly #owed = new OwedPlans();
  /** What is to be done is done one thing after another. */
  readonly #work = new Turns();
  #upkeep: Repeater | undefined;
  #closed = false;
  /** Nothing is written any more. */
  #isOver = false;

  constructor(options: UserspaceModeOptions) {
    const { clock = systemClock, listenIP, portRange } = options;
    if (listenIP !== undefined && isLoopback(listenIP)) throw new RangeError(`cannot proxy on localhost: ${listenIP}`);
    this.#options = options;
    this.#clock = clock;
    this.#ports = new PortAllocator(portRange);
    this.#machinery = new Machinery(options);
  }

  sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport> {
    return this.#queue(async () => {
      this.#owed.add(family, plans);
      const portals = this.#families.get(family) ?? (await this.#open(family));
      for (const owed of this.#owed.take(family)) portals.want(owed);
      portals.setOptions(settings);
      const { isUnsure: full } = portals;
      await portals.write().catch(error => {
        this.#options.events.measured(family, { kind: 'refused', partial: !full });
        throw error;
      });
      this.#lookAfterEvery(settings.syncPeriodMs ?? SYNC_PERIOD_MS);
      return { full };
    });
  }

  setAside(): readonly SetAside[] {
    return [...this.#families.values()].flatMap(portals => portals.setAside);
  }

  /** What went through each service port that is there now. */
  counters(): readonly ServiceCounters[] {
    return [...this.#families.values()].flatMap(portals => portals.counters);
  }

  /** TCP connections now, those of Services that are gone too. */
  get tcpConnections(): number {
    return this.#machinery.traffic.connections.size;
  }

  /** Bytes that were read and wait for slow readers. */
  get heldBytes(): number {
    return this.#machinery.traffic.held;
  }

  get udpClients(): number {
    return this.#machinery.traffic.udpClients.size;
  }

  /** Looks after the rules now rather than later. */
  settle(): Promise<void> {
    return this.#queue(() => this.#lookAfterAll());
  }

  /**
   * Takes no more connections and lets those that there are come to their end for a while. The rules then refuse, for
   * another program might be given the port of a proxy. All that takes a few seconds at most, whatever programs do.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { events, refuseMs = REFUSE_MS } = this.#options;
    await inTime(this.#clock, refuseMs, this.#refuseAll(refuseMs)).catch(error =>
      events.failed('having the rules refuse, which may lead to ports that others get', error),
    );
    this.#isOver = true;
    for (const portals of this.#families.values()) portals.close();
    await this.#drain();
    this.#machinery.close();
  }

  /** After what is under way, however long that takes, for it may write rules that lead here. */
  async #refuseAll(timeoutMs: number): Promise<void> {
    await this.#upkeep?.close();
    await this.#work.done;
    for (const [family, portals] of this.#families) {
      try {
        await portals.refuse(await this.#programs(family, timeoutMs));
      } catch (error) {
        this.#options.events.failed(`refusing ${family} connections`, error);
      }
    }
  }

  #programs(family: Family, timeoutMs = this.#options.iptables?.timeoutMs): Promise<Iptables> {
    const { namespace, iptables: options } = this.#options;
    return openIptables(family, { ...options, namespace, timeoutMs }, { turns: this.#turns });
  }

  async #open(family: Family): Promise<FamilyPortals> {
    const { listenIP, events } = this.#options;
    const { traffic, addresses, conntrack } = this.#machinery;
    const iptables = await this.#programs(family);
    this.#assertOpen();
    const portals = new FamilyPortals({
      family,
      traffic,
      ports: this.#ports,
      rules: new PortalRules(iptables),
      claims: new PortClaims(traffic, family),
      addresses,
      conntrack,
      events,
      listenIP: listenIP !== undefined && familyOf(listenIP) === family ? listenIP : ANY_IP[family],
    });
    this.#families.set(family, portals);
    return portals;
  }

  #queue<T>(work: () => Promise<T>): Promise<T> {
    return this.#work.take(() => {
      this.#assertOpen();
      return work();
    });
  }

  #assertOpen(): void {
    if (this.#isOver) throw new Error('userspace mode is closed');
  }

  #lookAfterEvery(periodMs: number): void {
    if (this.#closed) return;
    this.#upkeep?.setPeriod(periodMs);
    this.#upkeep ??= new Repeater(this.#clock, periodMs, () => this.settle());
  }

  async #lookAfterAll(): Promise<void> {
    const { events } = this.#options;
    for (const [family, portals] of this.#families) {
      if (this.#closed) return;
      try {
        const drift = await portals.upkeep();
        if (drift !== undefined) events.driftRepaired(family, drift);
      } catch (error) {
        events.failed(`looking after the ${family} rules`, error, family);
      }
    }
  }

  async #drain(): Promise<void> {
    const { connections } = this.#machinery.traffic;
    const end = this.#clock.elapsed() + (this.#options.drainMs ?? DRAIN_MS);
    while (connections.size > 0 && this.#clock.elapsed() < end) {
      await new Promise<void>(resolve => this.#clock.setTimer(DRAIN_LOOK_MS, resolve));
    }
    for (const connection of connections) connection.break();
  }
}
