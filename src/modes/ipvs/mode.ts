import { Iptables } from '../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import type { RouteEvent } from '../../kernel/rtnetlink/index.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { Turns } from '../../lib/turns.ts';
import { type Family, type Ip, parseCidr } from '../../net/index.ts';
import type { PlanDiff } from '../../plan/index.ts';
import { iptablesFamily } from '../iptables-words.ts';
import type { Mode, ModeEvents, ModeSettings, SetAside, SyncReport } from '../mode.ts';
import { NodeAddresses } from '../node-addresses.ts';
import { OwedPlans } from '../owed-plans.ts';
import { DEVICE, isLinkLocal } from './device.ts';
import { FamilyServices } from './family-services.ts';
import { type PrepareOptions, prepareIpvs } from './prepare.ts';
import { Rounds } from './rounds.ts';
import { closeSockets, openSockets, type Sockets } from './sockets.ts';
import { readStatistics } from './statistics/read-statistics.ts';
import type { ServerStatistics, StatisticsOptions } from './statistics/server-statistics.ts';
import { DEFAULT_SCHEDULER } from './virtual-server.ts';

export interface IpvsConfig extends Pick<PrepareOptions, 'strictARP' | 'timeouts'> {
  /** `rr` if left out or empty. */
  readonly scheduler?: string;
  /** Virtual servers at these addresses are left alone, unless a Service is there. */
  readonly excludeCIDRs?: readonly string[];
}

export interface IpvsModeOptions extends IpvsConfig {
  readonly namespace?: NetworkNamespace | undefined;
  readonly clock?: Clock;
  readonly events: ModeEvents;
}

/** ipvs mode: virtual servers, the addresses that bring packets to them, and sets with rules that masquerade. */
export class IpvsMode implements Mode {
  readonly #options: IpvsModeOptions;
  readonly #sockets: Sockets;
  readonly #addresses: NodeAddresses;
  readonly #families = new Map<Family, FamilyServices>();
  readonly #settings = new Map<Family, ModeSettings>();
  readonly #owed = new OwedPlans();
  /** The programs of both families have one lock. */
  readonly #turns = new Turns();
  readonly #rounds: Rounds;
  readonly #readings = new Turns();
  /** What is to be done is done one thing after another. */
  readonly #work = new Turns();
  /** Undefined: must be read. */
  #nodeIPs: readonly Ip[] | undefined;
  #isPrepared = false;
  #closed = false;

  constructor(options: IpvsModeOptions) {
    const { namespace, events, clock = systemClock } = options;
    this.#options = options;
    this.#rounds = new Rounds(clock, {
      check: () => this.#work.take(() => this.#checkAll()),
      verify: () => this.#work.take(() => this.#verifyAll()),
      drain: () => this.#work.take(() => this.#drainAll()),
      failed: (what, error) => events.failed(what, error),
    });
    this.#sockets = openSockets(namespace);
    try {
      this.#addresses = new NodeAddresses(
        namespace,
        ip => this.#nodeIPsChanged(ip),
        error => events.failed("watching the node's addresses", error),
        { exceptLink: DEVICE, exceptLinkChanged: event => this.#deviceChanged(event), clock },
      );
    } catch (error) {
      closeSockets(this.#sockets);
      throw error;
    }
  }

  sync(family: Family, plans: PlanDiff, settings: ModeSettings): Promise<SyncReport> {
    return this.#work.take(async () => {
      this.#owed.add(family, plans);
      this.#prepare();
      this.#settings.set(family, settings);
      const services = this.#families.get(family) ?? (await this.#open(family, settings));
      for (const owed of this.#owed.take(family)) services.want(owed);
      services.setOptions(settings, this.#listNodeIPs());
      const { isUnsure: full } = services;
      await services.write().catch(error => {
        this.#options.events.measured(family, { kind: 'refused', partial: !full });
        throw error;
      });
      this.#written();
      return { full };
    });
  }

  setAside(): readonly SetAside[] {
    return [...this.#families.values()].flatMap(services => services.setAside);
  }

  /** Whether iptables had a chain of this name before the first sync: what another mode left shows by that. */
  hadChain(chain: string): boolean {
    return [...this.#families.values()].some(services => services.hadChain(chain));
  }

  /** Over a socket of its own: whoever asks must not wait for a long sync. */
  statistics(options?: StatisticsOptions): Promise<ServerStatistics | undefined> {
    return this.#readings.take(async () =>
      this.#closed ? undefined : readStatistics(this.#sockets.reader, this.#families, options),
    );
  }

  /** Waits until all that was begun is done. */
  async settle(): Promise<void> {
    await this.#work.done;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#rounds.close();
    this.#addresses.close();
    await this.#work.done;
    await this.#readings.take(async () => closeSockets(this.#sockets));
  }

  #prepare(): void {
    if (this.#isPrepared) return;
    const { strictARP, timeouts, namespace, events } = this.#options;
    prepareIpvs({ strictARP, timeouts, namespace }, (what, error) => events.failed(what, error));
    this.#isPrepared = true;
  }

  async #open(family: Family, settings: ModeSettings): Promise<FamilyServices> {
    const { namespace, events, scheduler, excludeCIDRs = [] } = this.#options;
    const iptables = await Iptables.open(iptablesFamily(family), { namespace, turns: this.#turns });
    const excluded = excludeCIDRs.flatMap(text => parseCidr(text) ?? []);
    const options = { family, scheduler: scheduler || DEFAULT_SCHEDULER, excludeCIDRs: excluded, iptables, events };
    const services = new FamilyServices(options, this.#sockets, settings, this.#listNodeIPs());
    this.#families.set(family, services);
    return services;
  }

  #listNodeIPs(): readonly Ip[] {
    this.#nodeIPs ??= this.#addresses.list();
    return this.#nodeIPs;
  }

  #written(): void {
    if (this.#closed) return;
    this.#rounds.start();
    if ([...this.#families.values()].some(({ isDraining }) => isDraining)) this.#rounds.drainLater();
  }

  /** Node ports are served at the new addresses at once. Every pod's link brings a link-local one, which does not count. */
  #nodeIPsChanged(ip: Ip | undefined): void {
    if (ip !== undefined && isLinkLocal(ip)) return;
    this.#nodeIPs = undefined;
    if (this.#families.size > 0) this.#rounds.soon('readdressing', () => this.#work.take(() => this.#readdress()));
  }

  async #readdress(): Promise<void> {
    if (this.#closed) return;
    for (const [family, services] of this.#families) {
      const settings = this.#settings.get(family);
      if (!settings || services.isUnsure) continue;
      services.setOptions(settings, this.#listNodeIPs());
      await services.write();
    }
    this.#written();
  }

  #deviceChanged(event: RouteEvent): void {
    if (event.type !== 'del' || this.#closed) return;
    const isOurs = (services: FamilyServices) => event.kind === 'link' || services.isMissing(event.address.ip);
    if (![...this.#families.values()].some(isOurs)) return;
    const what = event.kind === 'link' ? `${DEVICE} was deleted` : `${DEVICE} lost ${event.address.ip}`;
    this.#rounds.repairSoon(() => this.#work.take(() => this.#repairAll(() => what)));
  }

  /** A few questions, to notice soon if somebody cleared ours away. */
  #checkAll(): Promise<void> {
    return this.#repairAll(services => (services.isUnsure ? undefined : services.drift()));
  }

  /** Looks at everything, for there are no notifications of ipvs and ipset. */
  #verifyAll(): Promise<void> {
    return this.#repairAll(() => 'something was changed');
  }

  async #repairAll(drift: (services: FamilyServices) => string | undefined): Promise<void> {
    for (const [family, services] of this.#families) {
      try {
        const what = this.#closed ? undefined : drift(services);
        if (what !== undefined) await this.#repair(family, services, what);
      } catch (error) {
        this.#options.events.failed(`repairing what ipvs mode wrote for ${family}`, error, family);
      }
    }
    this.#written();
  }

  async #repair(family: Family, services: FamilyServices, what: string): Promise<void> {
    const written = await services.adopt();
    if (written.isEmpty) return;
    this.#rounds.noteRepair();
    this.#options.events.driftRepaired(family, `${what}; ${written}`);
  }

  async #drainAll(): Promise<void> {
    if (this.#closed) return;
    for (const services of this.#families.values()) if (!services.isUnsure) await services.drain();
    this.#written();
  }
}
