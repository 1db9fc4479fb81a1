import type { ConntrackSocket } from '../../kernel/conntrack/index.ts';
import { type Iptables, IptablesError } from '../../kernel/iptables/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import { planId, type ServicePortPlan } from '../../plan/index.ts';
import { emptyListing, type Listing } from '../listing.ts';
import type { ModeEvents, ModeSettings } from '../mode.ts';
import type { PlanBook } from '../plan-book.ts';
import { emptyReading, type KernelReading } from '../read-back.ts';
import { writeAccepted } from '../refusal-search.ts';
import type { RelayResources } from '../relay/index.ts';
import { causeOf, type SetAsideCause } from '../set-aside.ts';
import type { ServicePortTraffic } from '../traffic/index.ts';
import type { Drift, WriteOutcome, Writer } from '../writer.ts';
import type { ServiceCounters } from './counters/service-counters.ts';
import { changedRules } from './diff.ts';
import { listUserspace } from './listing.ts';
import { type AddressReader, type MachineAddresses, sameAddresses } from './portals/machine-addresses.ts';
import type { PortReservations, Reservation } from './portals/port-reservations.ts';
import type { PortalRules } from './portals/portal-rules.ts';
import { type RenderOptions, renderOptions, sameOptions } from './portals/render-options.ts';
import { reserveFrontends } from './portals/reserve-frontends.ts';
import { type ChangedPortal, changedPortals, removeStaleFlows } from './portals/stale-flows.ts';
import type { PortAllocator } from './proxies/port-allocator.ts';
import { ServiceProxy } from './proxies/service-proxy.ts';
import { readBackUserspace } from './read-back.ts';
import { neededPolicies, type PortalRule, type ProxyPorts, refusing, render } from './render.ts';

export interface UserspaceWriterOptions {
  readonly family: Family;
  readonly book: PlanBook;
  readonly rules: PortalRules;
  readonly reservations: PortReservations;
  readonly ports: PortAllocator;
  readonly resources: RelayResources;
  readonly addresses: AddressReader;
  readonly conntrack: ConntrackSocket;
  readonly events: Pick<ModeEvents, 'failed' | 'measured'>;
  /** The address at which proxies listen. */
  readonly listenIP: Ip;
  /** Runs work while no write runs. */
  turn<T>(work: () => Promise<T>): Promise<T>;
  /** The same for work that changes nothing. */
  turnWithoutChange<T>(work: () => Promise<T>): Promise<T>;
}

/** The settings that the writer took, and the addresses of the machine at that time. */
interface TakenSettings {
  readonly options: RenderOptions;
  readonly addresses: MachineAddresses;
}

/** A service port whose proxies are open. Its rules are not written yet. */
interface PreparedPort {
  /** The plan with only those frontends that can be served; undefined if none can be. */
  readonly plan: ServicePortPlan | undefined;
  readonly ports: ProxyPorts;
  readonly reservations: readonly Reservation[];
  readonly rules: readonly PortalRule[];
  /** Why the service port, or a part of it, is set aside. */
  readonly cause?: SetAsideCause | undefined;
}

const UNSERVED: PreparedPort = { plan: undefined, ports: {}, reservations: [], rules: [] };

const SCTP_UNSUPPORTED: SetAsideCause = { code: 'UNSUPPORTED', message: 'SCTP cannot be proxied in userspace mode' };

/** Serves one family: the proxies of its service ports, and the rules that lead to them. */
export class UserspaceWriter implements Writer {
  readonly #options: UserspaceWriterOptions;
  readonly #proxies = new Map<string, ServiceProxy>();
  #taken: TakenSettings | undefined;
  #closed = false;

  constructor(options: UserspaceWriterOptions) {
    this.#options = options;
  }

  get isNextWriteFull(): boolean {
    return this.#options.rules.mustWriteAll;
  }

  /** What went through each existing service port. */
  get counters(): readonly ServiceCounters[] {
    const { family, book } = this.#options;
    return [...this.#proxies].flatMap(([id, proxy]) => {
      const plan = book.wantedPlan(id);
      if (!plan) return [];
      const { service, port } = plan;
      return [{ family, service, port: port.name, protocol: port.protocol, ...proxy.counters }];
    });
  }

  /** The traffic of each service port and endpoint. A connection that reached no endpoint was refused. */
  *traffic(): Generator<ServicePortTraffic> {
    const { family, book } = this.#options;
    for (const [id, proxy] of this.#proxies) {
      const plan = book.wantedPlan(id);
      if (!plan) continue;
      const { connections, active, bytesIn, bytesOut, failures } = proxy.counters;
      const figures = { connections, active, bytes: bytesIn + bytesOut, rejected: failures };
      const { service, port } = plan;
      yield { family, service, port: port.name, ...figures, endpoints: proxy.endpointFigures() };
    }
  }

  takeSettings(settings: ModeSettings): void {
    this.#assertOpen();
    const { family, book, listenIP } = this.#options;
    const addresses = this.#options.addresses.read(family);
    const options = renderOptions(settings, listenIP, addresses.host);
    const before = this.#taken;
    this.#taken = { options, addresses };
    const isSame = before && sameOptions(before.options, options) && sameAddresses(before.addresses, addresses);
    if (!isSame) book.changeAll();
  }

  /** Opens proxies, writes rules, then closes what the rules no longer lead to. */
  async write(): Promise<WriteOutcome> {
    this.#assertOpen();
    const { book, rules, resources } = this.#options;
    const prepared = new Map<string, PreparedPort>();
    for (const id of [...book.changedIds(), ...book.setAsideIds()]) {
      if (!prepared.has(id)) prepared.set(id, this.#prepare(id));
    }
    const changed = rules.mustWriteAll
      ? [...prepared.keys()]
      : [...changedRules(rules.committed, rulesOf(prepared)).keys()];
    await this.#writeRules(prepared);
    // The mode was closed before this write ended. It makes the rules refuse itself.
    if (this.#closed) return 'written';
    for (const connection of resources.connections) connection.endpointsGone();
    const portals = changed.flatMap(id => this.#changedPortals(id, prepared.get(id) ?? UNSERVED));
    for (const [id, port] of prepared) this.#finish(id, port);
    book.finishWrite();
    await this.#removeStaleFlows(portals);
    return 'written';
  }

  async findDrift(): Promise<Drift | undefined> {
    const { book, rules, turn, turnWithoutChange } = this.#options;
    const cause = await turnWithoutChange(async () => {
      if (this.#closed) return undefined;
      for (const proxy of this.#proxies.values()) proxy.expireAffinity();
      const found = await rules.findDrift();
      book.retryRefused();
      return found;
    });
    if (cause !== undefined) return { cause };
    if (book.setAsideIds().length > 0) {
      await turn(async () => {
        if (!this.#closed) await this.write();
      });
    }
    return undefined;
  }

  async repair(): Promise<string | undefined> {
    const { rules } = this.#options;
    if (!rules.mustWriteAll && (await rules.findDrift()) === undefined) return undefined;
    await this.write();
    return 'wrote all rules again';
  }

  async readBack(plan: ServicePortPlan): Promise<KernelReading> {
    const { book, rules, listenIP } = this.#options;
    if (!this.#taken) return emptyReading('the mode has no settings yet');
    return readBackUserspace({
      plan,
      options: this.#taken.options,
      listenIP,
      rules,
      proxy: this.#proxies.get(planId(plan)),
      isServicePort: (name, protocol) => book.wantedPlan(`${name}/${protocol}`) !== undefined,
    });
  }

  async listing(plans: readonly ServicePortPlan[]): Promise<Listing> {
    const { family, rules, listenIP } = this.#options;
    if (!this.#taken) return emptyListing('the mode has no settings yet');
    const { options } = this.#taken;
    return listUserspace({
      family,
      ports: plans.map(plan => ({ plan, options, listenIP, proxy: this.#proxies.get(planId(plan)) })),
      committed: rules.committed,
      proxies: this.#proxies.values(),
    });
  }

  /** Makes the rules refuse what they forwarded, because the proxies are about to close. */
  async refuse(iptables: Iptables): Promise<void> {
    const { book, rules } = this.#options;
    if (!this.#taken || !rules.hasWritten) return;
    const refusals = new Map(Array.from(rules.committed.keys(), id => [id, UNSERVED.rules]));
    for (const [id, plan] of book.committedPlans()) refusals.set(id, render(refusing(plan), {}, this.#taken.options));
    await rules.write(refusals, iptables);
  }

  /** Accepts no more connections. Open TCP connections go on. */
  close(): void {
    this.#closed = true;
    for (const proxy of this.#proxies.values()) proxy.close();
    this.#options.reservations.close();
  }

  #assertOpen(): void {
    if (this.#closed) throw new Error('userspace mode is closed');
  }

  #prepare(id: string): PreparedPort {
    const { book, reservations } = this.#options;
    const plan = book.wantedPlan(id);
    if (!plan || !this.#taken || book.isRefused(id)) return UNSERVED;
    const { protocol } = plan.port;
    if (protocol === 'SCTP') return { ...UNSERVED, cause: SCTP_UNSUPPORTED };
    const { options, addresses } = this.#taken;
    try {
      const proxy = this.#proxyOf(id);
      proxy.update(plan);
      const port = { id, protocol, machineIPs: addresses.all, nodePortRanges: options.nodePortRanges };
      const { frontends, ...reserved } = reserveFrontends(reservations, plan.frontends, port);
      const served = { ...plan, frontends };
      const ports = proxy.open(plan, neededPolicies(served));
      return { plan: served, ports, rules: render(served, ports, options), ...reserved };
    } catch (error) {
      return { ...UNSERVED, cause: causeOf(error) };
    }
  }

  #proxyOf(id: string): ServiceProxy {
    const known = this.#proxies.get(id);
    if (known) return known;
    const proxy = new ServiceProxy(this.#options);
    this.#proxies.set(id, proxy);
    return proxy;
  }

  /** Sets service ports aside whose rules iptables refuses, and writes the rules of the others. */
  async #writeRules(prepared: Map<string, PreparedPort>): Promise<void> {
    const { book, rules, family, events } = this.#options;
    const start = performance.now();
    const refused = new Map<string, PreparedPort>();
    let objects = 0;
    const write = async (ports: Iterable<readonly [string, PreparedPort]>) => {
      objects += await rules.write(rulesOf(ports));
    };
    await writeAccepted<readonly [string, PreparedPort], IptablesError>([...prepared], {
      attempt: async ports => {
        try {
          await write(ports);
          return undefined;
        } catch (error) {
          if (error instanceof IptablesError && error.isAboutRules) return error;
          throw error;
        }
      },
      refuse: ([id], error) => {
        book.refuse(id, causeOf(error));
        refused.set(id, UNSERVED);
        prepared.set(id, UNSERVED);
        return [];
      },
    });
    // Removes the former rules of what was refused. Without any service port, the write may still have to write chains.
    if (refused.size > 0 || prepared.size === 0) await write(refused);
    if (objects > 0) events.measured(family, { kind: 'batch', objects, milliseconds: performance.now() - start });
  }

  /** The rules are written: closes what they do not lead to. */
  #finish(id: string, { plan, reservations, cause }: PreparedPort): void {
    const { book } = this.#options;
    if (cause) book.postpone(id, cause);
    else if (!book.isRefused(id)) book.clear(id);
    book.commit([{ id, from: book.committedPlan(id), to: plan }]);
    this.#options.reservations.releaseExcept(id, reservations);
    const proxy = this.#proxies.get(id);
    if (plan) {
      proxy?.closeExcept(neededPolicies(plan));
      return;
    }
    proxy?.close();
    this.#proxies.delete(id);
  }

  #changedPortals(id: string, { plan, ports }: PreparedPort): readonly ChangedPortal[] {
    return changedPortals([this.#options.book.committedPlan(id), plan], ports);
  }

  async #removeStaleFlows(portals: readonly ChangedPortal[]): Promise<void> {
    const { conntrack, family, events } = this.#options;
    if (portals.length === 0) return;
    try {
      await removeStaleFlows(conntrack, family, portals, this.#taken?.addresses.all ?? new Set());
    } catch (error) {
      events.failed({ family, action: `remove stale ${family} flows`, error });
    }
  }
}

function rulesOf(ports: Iterable<readonly [string, PreparedPort]>): ReadonlyMap<string, readonly PortalRule[]> {
  return new Map(Array.from(ports, ([id, { rules }]) => [id, rules]));
}
