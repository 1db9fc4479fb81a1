import type { ConntrackSocket } from '../../kernel/conntrack/index.ts';
import type { Iptables, IptablesError } from '../../kernel/iptables/index.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Family, Ip } from '../../net/index.ts';
import { type PlanDiff, planName, type ServicePortPlan } from '../../plan/index.ts';
import type { ModeEvents, ModeSettings, ServiceCounters, SetAside } from '../mode.ts';
import { notePlans } from '../note-plans.ts';
import { claimFrontends } from './portals/reserve-frontends.ts';
import { type AddressReader, type MachineAddresses, sameAddresses } from './portals/machine-addresses.ts';
import type { PortAllocator } from './relay/port-allocator.ts';
import type { PortClaims } from './portals/port-reservations.ts';
import { type PortalRules, sameRules } from './portals/portal-rules.ts';
import { NOTHING, type Prepared } from './prepared.ts';
import { neededPolicies, type RenderOptions, refusing, render } from './render.ts';
import { renderOptions, sameOptions } from './portals/render-options.ts';
import { ServiceProxy } from './relay/service-proxy.ts';
import { type ChangedPortal, changedPortals, forgetStaleFlows } from './portals/stale-flows.ts';
import type { Traffic } from './relay/relay-resources.ts';
import { writeAccepted } from './write-accepted.ts';

export interface FamilyPortalsOptions {
  readonly family: Family;
  readonly traffic: Traffic;
  readonly ports: PortAllocator;
  readonly rules: PortalRules;
  readonly claims: PortClaims;
  readonly addresses: AddressReader;
  readonly conntrack: ConntrackSocket;
  readonly events: ModeEvents;
  /** The address that proxies listen at. */
  readonly listenIP: Ip;
}

/** The portals of one family: what is wanted, the proxies behind them, and the rules that lead there. */
export class FamilyPortals {
  readonly #options: FamilyPortalsOptions;
  readonly #wanted = new Map<string, ServicePortPlan>();
  readonly #proxies = new Map<string, ServiceProxy>();
  /** As they are in the kernel. */
  readonly #committed = new Map<string, ServicePortPlan>();
  readonly #setAside = new Map<string, SetAside>();
  /** Whose rules were refused. They are tried again when they change, and now and then. */
  readonly #refused = new Map<string, ServicePortPlan>();
  readonly #dirty = new Set<string>();
  #render: RenderOptions | undefined;
  #addresses: MachineAddresses | undefined;
  #closed = false;

  constructor(options: FamilyPortalsOptions) {
    this.#options = options;
  }

  get setAside(): readonly SetAside[] {
    return [...this.#setAside.values()];
  }

  get isUnsure(): boolean {
    return this.#options.rules.isUnsure;
  }

  get counters(): readonly ServiceCounters[] {
    const { family } = this.#options;
    return [...this.#proxies].flatMap(([id, proxy]) => {
      const plan = this.#wanted.get(id);
      if (!plan || plan.port.protocol === 'SCTP') return [];
      return [{ family, servicePort: planName(plan), protocol: plan.port.protocol, ...proxy.counters }];
    });
  }

  /** Notes what is wanted; nothing is written before `write`. */
  want(plans: PlanDiff): void {
    notePlans(plans, this.#wanted, this.#dirty);
  }

  /** Rules depend on the settings and on this machine's addresses. */
  setOptions(settings: ModeSettings): void {
    const { addresses, family, listenIP } = this.#options;
    const now = addresses.read(family);
    const options = renderOptions(family, settings, listenIP, now.host);
    const isSame =
      this.#render && this.#addresses && sameOptions(this.#render, options) && sameAddresses(this.#addresses, now);
    this.#render = options;
    this.#addresses = now;
    if (!isSame) for (const id of this.#wanted.keys()) this.#dirty.add(id);
  }

  /** Opens proxies, writes rules, then closes what they no longer lead to. */
  async write(): Promise<void> {
    const { rules, traffic, family, events } = this.#options;
    const ids = new Set([...this.#dirty, ...this.#setAside.keys()]);
    const prepared = new Map(Array.from(ids, id => [id, this.#prepare(id)]));
    const stale = [...prepared].filter(
      ([id, { rules: list }]) => rules.isUnsure || !sameRules(rules.rulesOf(id), list),
    );
    const start = performance.now();
    const written = await writeAccepted(rules, new Map([...prepared].map(([id, { rules: list }]) => [id, list])));
    if (this.#closed) return;
    for (const [id, error] of written.refused) prepared.set(id, this.#refuse(id, error));
    const objects = written.rules.filter + written.rules.nat;
    if (objects > 0) events.measured(family, { kind: 'batch', objects, milliseconds: performance.now() - start });
    for (const table of ['filter', 'nat'] as const) {
      events.measured(family, { kind: 'rules', table, total: rules.total(table), last: written.rules[table] });
    }
    for (const connection of traffic.connections) connection.endpointsGone();
    const portals = stale.flatMap(([id, { plan, ports }]) => changedPortals([this.#committed.get(id), plan], ports));
    for (const [id, each] of prepared) this.#settle(id, each);
    await this.#forgetFlows(portals);
  }

  /** What is to be done now and then. Returns what others changed. */
  async upkeep(): Promise<string | undefined> {
    for (const proxy of this.#proxies.values()) proxy.expire();
    const drift = await this.#options.rules.findDrift();
    this.#refused.clear();
    if (drift !== undefined || this.#setAside.size > 0) await this.write();
    return drift;
  }

  /** Refuses what was forwarded, for nobody will serve it. If it is not sure what there is, all is written anew. */
  async refuse(iptables: Iptables): Promise<void> {
    const { rules } = this.#options;
    const options = this.#render;
    if (!options || !rules.isTouched) return;
    const refusals = new Map(Array.from(rules.ids, id => [id, NOTHING.rules]));
    for (const [id, plan] of this.#committed) refusals.set(id, render(refusing(plan), {}, options));
    await rules.write(refusals, iptables);
  }

  close(): void {
    this.#closed = true;
    for (const proxy of this.#proxies.values()) proxy.close();
    this.#options.claims.close();
  }

  #prepare(id: string): Prepared {
    const plan = this.#wanted.get(id);
    const options = this.#render;
    if (!plan || !options) return NOTHING;
    if (this.#refused.get(id) === plan) return { ...NOTHING, problem: this.#setAside.get(id)?.error };
    const { protocol } = plan.port;
    if (protocol === 'SCTP') return { ...NOTHING, problem: 'SCTP cannot be proxied in userspace mode' };
    const proxy = this.#proxyOf(id);
    proxy.update(plan);
    try {
      const wanted = { id, protocol, all: this.#addresses?.all, ranges: options.nodePortRanges };
      const { frontends, claims, problem } = claimFrontends(this.#options.claims, plan.frontends, wanted);
      const served = { ...plan, frontends };
      const ports = proxy.open(plan, neededPolicies(served));
      return { plan: served, ports, claims, rules: render(served, ports, options), problem };
    } catch (error) {
      return { ...NOTHING, problem: errorText(error) };
    }
  }

  #proxyOf(id: string): ServiceProxy {
    const known = this.#proxies.get(id);
    if (known) return known;
    const proxy = new ServiceProxy(this.#options);
    this.#proxies.set(id, proxy);
    return proxy;
  }

  #refuse(id: string, error: IptablesError): Prepared {
    const plan = this.#wanted.get(id);
    if (plan) this.#refused.set(id, plan);
    return { ...NOTHING, problem: errorText(error) };
  }

  #note(id: string, error: string | undefined): void {
    const plan = this.#wanted.get(id);
    if (!plan || error === undefined) {
      this.#setAside.delete(id);
      return;
    }
    const port = { family: this.#options.family, servicePort: planName(plan), error };
    const isKnown = this.#setAside.get(id)?.error === error;
    this.#setAside.set(id, port);
    if (!isKnown) this.#options.events.setAside(port);
  }

  /** The rules are written: what they do not lead to is closed. */
  #settle(id: string, { plan, claims, problem }: Prepared): void {
    this.#dirty.delete(id);
    this.#note(id, problem);
    this.#options.claims.releaseExcept(id, claims);
    const proxy = this.#proxies.get(id);
    if (plan) {
      this.#committed.set(id, plan);
      proxy?.closeExcept(neededPolicies(plan));
      return;
    }
    this.#committed.delete(id);
    proxy?.close();
    this.#proxies.delete(id);
    if (!this.#wanted.has(id)) this.#refused.delete(id);
  }

  async #forgetFlows(portals: readonly ChangedPortal[]): Promise<void> {
    const { conntrack, family, events } = this.#options;
    if (portals.length === 0) return;
    try {
      await forgetStaleFlows(conntrack, family, portals, this.#addresses?.all ?? new Set());
    } catch (error) {
      events.failed('removing stale flows', error);
    }
  }
}
