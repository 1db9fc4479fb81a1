import { ConntrackSocket } from '../../kernel/conntrack/index.ts';
import { Iptables, type IptablesOptions, Turns } from '../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { descriptorLimit, EventPoll } from '../../kernel/sockets/index.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { Repeater } from '../../lib/repeater.ts';
import { type Family, familyOf, type Ip, isLoopback } from '../../net/index.ts';
import type { PlanDiff } from '../../plan/index.ts';
import { iptablesFamily } from '../iptables-words.ts';
import {
  type Mode,
  type ModeEvents,
  type ModeSettings,
  type ServiceCounters,
  type SetAside,
  SYNC_PERIOD_MS,
  type SyncReport,
} from '../mode.ts';
import { FamilyPortals } from './family-portals.ts';
import { AddressReader } from './machine-addresses.ts';
import { PortAllocator, type PortRange } from './port-allocator.ts';
import { PortClaims } from './port-claims.ts';
import { PortalRules } from './portal-rules.ts';
import { Traffic } from './traffic.ts';
import { Trouble } from './trouble.ts';

export interface UserspaceModeOptions {
  readonly namespace?: NetworkNamespace | undefined;
  readonly clock?: Clock;
  readonly events: ModeEvents;
  /** The address that proxies listen at in its family, `bindAddress`; all addresses unless told. Not a loopback one. */
  readonly listenIP?: Ip | undefined;
  /** The ports that proxies listen at, `portRange`; those that the kernel chooses unless told. */
  readonly portRange?: PortRange | undefined;
  /** How long a client of UDP may be silent before it is forgotten, `udpIdleTimeout`. */
  readonly udpIdleTimeoutMs?: number | undefined;
  /** How long connections may go on when the mode is closed. */
  readonly drainMs?: number | undefined;
  /** How many descriptors there may be for proxying; seven eighths of what the process may have unless told. */
  readonly maxDescriptors?: number | undefined;
  readonly maxUdpClients?: number | undefined;
  readonly keepAliveSeconds?: number | undefined;
  /** How iptables is run. */
  readonly iptables?: Pick<IptablesOptions, 'env' | 'lockFile' | 'timeoutMs' | 'waitSeconds' | 'program'> | undefined;
}

const UDP_IDLE_TIMEOUT_MS = 250;
const DRAIN_MS = 5000;
const DRAIN_LOOK_MS = 20;
const KEEP_ALIVE_SECONDS = 15;
const UDP_CLIENTS = 8192;
const ANY: Readonly<Record<Family, Ip>> = { IPv4: '0.0.0.0' as Ip, IPv6: '::' as Ip };

/** userspace mode: portals lead to sockets of this process, which copies between clients and endpoints. */
export class UserspaceMode implements Mode {
  readonly #options: UserspaceModeOptions;
  readonly #clock: Clock;
  readonly #poll: EventPoll;
  readonly #traffic: Traffic;
  readonly #ports: PortAllocator;
  readonly #addresses: AddressReader;
  readonly #conntrack: ConntrackSocket;
  /** The legacy programs of both families have one lock. */
  readonly #turns = new Turns();
  readonly #families = new Map<Family, FamilyPortals>();
  /** What is to be done is done one thing after another. */
  #work: Promise<unknown> = Promise.resolve();
  #upkeep: Repeater | undefined;
  #closed = false;

  constructor(options: UserspaceModeOptions) {
    const { namespace, clock = systemClock, events, listenIP } = options;
    if (listenIP !== undefined && isLoopback(listenIP)) throw new RangeError(`cannot proxy on localhost: ${listenIP}`);
    this.#options = options;
    this.#clock = clock;
    const trouble = new Trouble(clock, (what, error) => events.failed(what, error));
    this.#poll = new EventPoll(error => trouble.note('handling a connection', error));
    const limit = descriptorLimit();
    this.#traffic = new Traffic({
      namespace,
      poll: this.#poll,
      clock,
      stream: { keepAliveSeconds: options.keepAliveSeconds ?? KEEP_ALIVE_SECONDS },
      udpIdleTimeoutMs: options.udpIdleTimeoutMs ?? UDP_IDLE_TIMEOUT_MS,
      maxDescriptors: options.maxDescriptors ?? limit - (limit >> 3),
      maxUdpClients: options.maxUdpClients ?? UDP_CLIENTS,
      trouble: (what, error) => trouble.note(what, error),
    });
    this.#ports = new PortAllocator(options.portRange);
    this.#addresses = new AddressReader(namespace);
    this.#conntrack = ConntrackSocket.open({ namespace });
  }

  sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport> {
    return this.#queue(async () => {
      const portals = await this.#family(family);
      const { isUnsure: full } = portals;
      portals.want(plans, settings);
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
    return this.#traffic.connections.size;
  }

  /** Bytes that were read and wait for slow readers. */
  get heldBytes(): number {
    return this.#traffic.held;
  }

  get udpClients(): number {
    return this.#traffic.udpClients;
  }

  /** Looks after the rules now rather than later. */
  settle(): Promise<void> {
    return this.#queue(() => this.#lookAfterAll());
  }

  /**
   * Takes no more connections and lets those that there are come to their end for a while. The rules then refuse, for
   * another program might be given the port of a proxy.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#upkeep?.close();
    await this.#work;
    for (const [family, portals] of this.#families) {
      await portals.refuse().catch(error => this.#options.events.failed(`refusing ${family} connections`, error));
      portals.close();
    }
    await this.#drain();
    this.#poll.close();
    this.#traffic.spare.close();
    this.#addresses.close();
    this.#conntrack.close();
  }

  async #family(family: Family): Promise<FamilyPortals> {
    const known = this.#families.get(family);
    if (known) return known;
    const { namespace, iptables: options, listenIP, events } = this.#options;
    const program = family === 'IPv4' ? options?.program : options?.program?.replace(/^iptables/, 'ip6tables');
    const iptables = await Iptables.open(iptablesFamily(family), {
      ...options,
      program,
      namespace,
      turns: this.#turns,
    });
    const portals = new FamilyPortals({
      family,
      traffic: this.#traffic,
      ports: this.#ports,
      rules: new PortalRules(iptables),
      claims: new PortClaims(this.#traffic, family),
      addresses: this.#addresses,
      conntrack: this.#conntrack,
      events,
      listenIP: listenIP !== undefined && familyOf(listenIP) === family ? listenIP : ANY[family],
    });
    this.#families.set(family, portals);
    return portals;
  }

  #queue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
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
    const { connections } = this.#traffic;
    const end = this.#clock.elapsed() + (this.#options.drainMs ?? DRAIN_MS);
    while (connections.size > 0 && this.#clock.elapsed() < end) {
      await new Promise<void>(resolve => this.#clock.setTimer(DRAIN_LOOK_MS, resolve));
    }
    for (const connection of connections) connection.break();
  }
}
