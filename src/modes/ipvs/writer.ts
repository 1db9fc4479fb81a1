import { errorText } from '../../lib/error-text.ts';
import type { Ip } from '../../net/index.ts';
import { type PlanDiff, planName } from '../../plan/index.ts';
import type { ModeSettings, SetAside } from '../mode.ts';
import { FamilyTables, type FamilyTablesOptions } from './kernel-state/kernel-state.ts';
import { type RenderContext, renderContext } from './render.ts';
import type { Sockets } from './kernel-state/sockets.ts';
import type { Touched, Wanted } from './wanted/wanted-objects.ts';
import { WantedPlans } from './wanted/rendered-plans.ts';
import { type Refused, Written } from './kernel-state/write-report.ts';

export interface FamilyServicesOptions extends FamilyTablesOptions {
  readonly scheduler: string;
}

/** How often everything is read again because somebody else writes too. */
const ATTEMPTS = 3;

/** All Services of one family: what is wanted of them, and what the kernel would not take. */
export class FamilyServices {
  readonly #options: FamilyServicesOptions;
  readonly #plans: WantedPlans;
  readonly #tables: FamilyTables;
  readonly #setAside = new Map<string, SetAside>();
  #settings: ModeSettings;
  /** All addresses of this machine's other links, also those that nothing is served at. */
  #nodeIPs: ReadonlySet<string>;
  /** The kernel was not read yet, or a write failed half way. */
  #unsure = true;

  constructor(options: FamilyServicesOptions, sockets: Sockets, settings: ModeSettings, nodeIPs: readonly Ip[]) {
    this.#options = options;
    this.#settings = settings;
    this.#nodeIPs = new Set(nodeIPs);
    this.#plans = new WantedPlans(this.#context(settings, nodeIPs));
    this.#tables = new FamilyTables(options, sockets);
  }

  /** Whether the next write reads the kernel and looks at everything. */
  get isUnsure(): boolean {
    return this.#unsure;
  }

  get isDraining(): boolean {
    return this.#tables.isDraining;
  }

  get setAside(): readonly SetAside[] {
    return [...this.#setAside.values()];
  }

  get wanted(): Wanted {
    return this.#plans.wanted;
  }

  /** Whether a chain of this name was there before anything was written. */
  hadChain(chain: string): boolean {
    return this.#tables.hadChain(chain);
  }

  /** Whether an address that kube-ipvs0 lost should be there. */
  isMissing(ip: Ip): boolean {
    return this.#tables.hasAddress(ip) && this.wanted.element('ipvsIPs', ip) !== undefined;
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
      await this.#tables.read(this.wanted, this.#nodeIPs, written);
      this.wanted.takeTouched();
      const refused = await this.#apply(this.#tables.everything(this.wanted), written);
      if (attempt < ATTEMPTS && refused.some(({ isStale }) => isStale)) continue;
      this.#tables.noteReferences();
      const before = new Map(this.#setAside);
      this.#setAside.clear();
      await this.#blame(refused, written, before);
      return written;
    }
  }

  /** What somebody else did to ours, as far as a few questions tell. */
  drift(): string | undefined {
    return this.#unsure ? undefined : this.#tables.drift();
  }

  /** Removes real servers whose last connection ended. */
  drain(): Promise<void> {
    return this.#tables.drain(this.wanted);
  }

  async #apply(touched: Touched, written: Written): Promise<readonly Refused[]> {
    this.#unsure = true;
    const refused = await this.#tables.write(touched, this.wanted, this.#settings, written);
    this.#unsure = false;
    return refused;
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
