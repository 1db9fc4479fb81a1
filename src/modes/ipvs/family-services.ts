import type { Iptables } from '../../kernel/iptables/index.ts';
import { printKey, type ServiceKey } from '../../kernel/ipvs/index.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Cidr, Family, Ip } from '../../net/index.ts';
import { type PlanDiff, planName } from '../../plan/index.ts';
import type { ModeEvents, ModeSettings, SetAside } from '../mode.ts';
import { AddressTable } from './device.ts';
import { ownerOf } from './ownership.ts';
import { type RenderContext, renderContext } from './render.ts';
import { RuleWriter } from './rule-writer.ts';
import { countRules, type RuleInput, TABLES } from './rules.ts';
import { ServerTable } from './server-table.ts';
import { SetTable } from './set-table.ts';
import { SET_KEYS, type SetKey } from './sets.ts';
import type { Sockets } from './sockets.ts';
import type { Touched, Wanted } from './wanted.ts';
import { WantedPlans } from './wanted-plans.ts';
import { type Measured, type Refused, Written } from './written.ts';

export interface FamilyServicesOptions {
  readonly family: Family;
  readonly scheduler: string;
  readonly excludeCIDRs: readonly Cidr[];
  readonly iptables: Iptables;
  readonly events: ModeEvents;
}

/** How often everything is read again because somebody else writes too. */
const ATTEMPTS = 3;

/** All Services of one family: what is wanted of them, what the kernel has, and what it would not take. */
export class FamilyServices {
  readonly #options: FamilyServicesOptions;
  readonly #plans: WantedPlans;
  readonly #sets: SetTable;
  readonly #addresses: AddressTable;
  readonly #servers: ServerTable;
  readonly #rules: RuleWriter;
  readonly #setAside = new Map<string, SetAside>();
  #settings: ModeSettings;
  /** All addresses of this machine's other links, also those that nothing is served at. */
  #nodeIPs: ReadonlySet<string>;
  /** The kernel was not read yet, or a write failed half way. */
  #unsure = true;

  constructor(options: FamilyServicesOptions, sockets: Sockets, settings: ModeSettings, nodeIPs: readonly Ip[]) {
    const { family, events, iptables } = options;
    const measured: Measured = (objects, milliseconds) =>
      events.measured(family, { kind: 'batch', objects, milliseconds });
    this.#options = options;
    this.#settings = settings;
    this.#nodeIPs = new Set(nodeIPs);
    this.#plans = new WantedPlans(this.#context(settings, nodeIPs));
    this.#sets = new SetTable(sockets.ipset, family, measured);
    this.#addresses = new AddressTable(sockets.route, family, measured);
    this.#servers = new ServerTable(sockets.ipvs, family, measured);
    this.#rules = new RuleWriter(iptables, measured);
  }

  /** Whether the next write reads the kernel and looks at everything. */
  get isUnsure(): boolean {
    return this.#unsure;
  }

  get isDraining(): boolean {
    return this.#servers.isDraining;
  }

  get setAside(): readonly SetAside[] {
    return [...this.#setAside.values()];
  }

  get wanted(): Wanted {
    return this.#plans.wanted;
  }

  /** Whether a chain of this name was there before anything was written. */
  hadChain(chain: string): boolean {
    return this.#rules.hadChain(chain);
  }

  /** Whether an address that kube-ipvs0 lost should be there. */
  isMissing(ip: Ip): boolean {
    return this.#addresses.has(ip) && this.wanted.element('ipvsIPs', ip) !== undefined;
  }

  /** Notes what is wanted; nothing is written before `write`. */
  want(plans: PlanDiff): void {
    for (const id of this.#plans.want(plans)) this.#setAside.delete(id);
  }

  setOptions(settings: ModeSettings, nodeIPs: readonly Ip[]): void {
    this.#settings = settings;
    this.#nodeIPs = new Set(nodeIPs);
    this.#plans.setContext(this.#context(settings, nodeIPs, this.#plans.context.missingSchedulers));
  }

  /** Writes what changed; everything that differs, if it is not sure what the kernel has. */
  async write(): Promise<Written> {
    if (this.#unsure) return this.adopt();
    const written = new Written();
    const refused = await this.#apply(this.wanted.takeTouched(), written);
    if (refused.some(({ isStale }) => isStale)) return this.adopt(written);
    await this.#blame(refused, written);
    return written;
  }

  /** Reads what the kernel has and writes what differs, wherever the difference comes from. */
  async adopt(written = new Written()): Promise<Written> {
    for (let attempt = 1; ; attempt++) {
      this.#unsure = true;
      await this.#read(written);
      this.wanted.takeTouched();
      const refused = await this.#apply(this.#everything(), written);
      if (attempt < ATTEMPTS && refused.some(({ isStale }) => isStale)) continue;
      // Others may use our sets too; that is noticed once and then known.
      this.#sets.noteReferences();
      const before = new Map(this.#setAside);
      this.#setAside.clear();
      await this.#blame(refused, written, before);
      return written;
    }
  }

  /** What somebody else did to ours, as far as a few questions tell. */
  drift(): string | undefined {
    if (this.#unsure) return undefined;
    return this.#servers.isThere() ? this.#sets.drift() : 'virtual servers are gone';
  }

  /** Removes real servers whose last connection ended. */
  drain(): Promise<void> {
    return this.#servers.drain(this.wanted, new Written());
  }

  async #read(written: Written): Promise<void> {
    const sets = this.#sets;
    const addresses = this.#addresses;
    await sets.read(written);
    addresses.read();
    const found = {
      hasElement: sets.has.bind(sets),
      hasAddress: addresses.has.bind(addresses),
      isNodeIP: (ip: string) => this.#nodeIPs.has(ip),
    };
    const isWanted = (key: ServiceKey) => this.wanted.server(printKey(key)) !== undefined;
    await this.#servers.read(key => (isWanted(key) ? 'us' : ownerOf(key, found, this.#options.excludeCIDRs)));
    await this.#rules.read();
  }

  #everything(): Touched {
    const elements = new Map(
      SET_KEYS.map((set): [SetKey, Set<string>] => [
        set,
        new Set([...this.wanted.elementTexts(set), ...this.#sets.texts(set)]),
      ]),
    );
    for (const ip of this.#addresses.ips()) elements.get('ipvsIPs')?.add(ip);
    return { servers: new Set([...this.wanted.serverIds(), ...this.#servers.ids()]), elements };
  }

  /** In an order in which nothing is missing that a packet needs, and what is ours can be told at any time. */
  async #apply({ servers, elements }: Touched, written: Written): Promise<readonly Refused[]> {
    const { family, events } = this.#options;
    const { wanted } = this;
    const ips = elements.get('ipvsIPs') ?? [];
    const progress = (done: number, of: number) => events.progress(family, done, of);
    this.#unsure = true;
    const refused = [
      ...(await this.#sets.add(elements, wanted, written)),
      ...(await this.#addresses.add(ips, wanted, written)),
      ...(await this.#servers.write(servers, { wanted, written, progress })),
    ];
    await this.#writeRules(written);
    refused.push(
      ...(await this.#addresses.remove(ips, wanted, written)),
      ...(await this.#sets.remove(elements, wanted, written)),
    );
    this.#unsure = false;
    return refused;
  }

  async #writeRules(written: Written): Promise<void> {
    const { family, events } = this.#options;
    const input = this.#ruleInput();
    if (!(await this.#rules.write(input, written))) return;
    this.#sets.noteReferences();
    for (const table of TABLES) {
      const total = countRules(input, table);
      events.measured(family, { kind: 'rules', table, total, last: total });
    }
  }

  #ruleInput(): RuleInput {
    const { localDetector, masqueradeAll, masqueradeMark } = this.#settings;
    return {
      family: this.#options.family,
      localDetector,
      masqueradeAll,
      masqueradeMark,
      randomFully: this.#rules.randomFully,
      used: new Set(SET_KEYS.filter(set => !this.wanted.isEmpty(set))),
      drops: this.wanted.drops(),
    };
  }

  /** Does without schedulers that the kernel lacks, and sets aside whose other objects were refused. */
  async #blame(
    refused: readonly Refused[],
    written: Written,
    known: ReadonlyMap<string, SetAside> = this.#setAside,
  ): Promise<void> {
    const { family, scheduler: usual, events } = this.#options;
    const lacking = refused.filter(({ scheduler }) => scheduler !== undefined && scheduler !== usual);
    if (lacking.length > 0) {
      this.#doWithout(lacking);
      await this.#blame(await this.#apply(this.wanted.takeTouched(), written), written, known);
      return;
    }
    const errors = new Map(refused.map(({ object, error }) => [object, errorText(error)]));
    for (const { id, plan, error } of this.#plans.culprits(errors)) {
      const isNews = known.get(id)?.error !== error;
      const port = { family, servicePort: planName(plan), error };
      this.#setAside.set(id, port);
      if (isNews) events.setAside(port);
    }
  }

  #doWithout(lacking: readonly Refused[]): void {
    const { family, scheduler: usual, events } = this.#options;
    const { context } = this.#plans;
    const missingSchedulers = new Set(context.missingSchedulers);
    for (const { scheduler, error } of lacking) {
      if (scheduler === undefined || missingSchedulers.has(scheduler)) continue;
      missingSchedulers.add(scheduler);
      events.noticed(
        family,
        `scheduler ${scheduler}, asked for by a Service, is not to be had, so ${usual} is used: ${errorText(error)}`,
      );
    }
    this.#plans.setContext({ ...context, missingSchedulers });
  }

  #context(settings: ModeSettings, nodeIPs: readonly Ip[], missingSchedulers?: ReadonlySet<string>): RenderContext {
    const { family, scheduler } = this.#options;
    return renderContext({ family, scheduler, missingSchedulers, settings, nodeIPs });
  }
}
