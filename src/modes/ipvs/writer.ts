import { KernelError } from '../../kernel/errors.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Ip } from '../../net/index.ts';
import { type EndedEndpoint, type PlanDiff, planId, type ServicePortPlan } from '../../plan/index.ts';
import type { Listing } from '../listing.ts';
import type { ModeSettings } from '../mode.ts';
import type { PlanBook } from '../plan-book.ts';
import type { KernelReading } from '../read-back.ts';
import { causeOf } from '../set-aside.ts';
import type { Drift, DriftLook, WriteOutcome, Writer } from '../writer.ts';
import { allNames } from './diff.ts';
import { findDrift } from './drift.ts';
import { type KernelSockets, KernelState, type KernelStateOptions } from './kernel-state/kernel-state.ts';
import { type RefusedObject, WriteSummary } from './kernel-state/write-report.ts';
import { listIpvs } from './listing.ts';
import { readBackIpvs } from './read-back.ts';
import { type RenderContext, renderContext } from './render.ts';
import { type RuleInput, ruleInput } from './rules/rule-text.ts';
import { RenderedPlans } from './wanted/rendered-plans.ts';
import type { ObjectNames, WantedObjects } from './wanted/wanted-objects.ts';

export interface IpvsWriterOptions extends KernelStateOptions {
  readonly scheduler: string;
  readonly strictARP?: boolean | undefined;
  readonly namespace?: NetworkNamespace | undefined;
  readonly settings: ModeSettings;
  /** Lists the addresses of this machine, except those of kube-ipvs0. */
  nodeIPs(): readonly Ip[];
  /** Runs work that changes nothing while no write runs. */
  turn<T>(work: () => Promise<T>): Promise<T>;
}

/** How often the writer reads everything again because another program writes too. */
const ADOPT_ATTEMPTS = 3;

/** How often the writer checks whether the connections of real servers that leave have ended. */
const DRAIN_CHECK_MS = 10_000;

/** Writes the virtual servers, addresses, sets and rules of one family. */
export class IpvsWriter implements Writer {
  readonly #options: IpvsWriterOptions;
  readonly #book: PlanBook;
  readonly #plans: RenderedPlans;
  readonly #kernel: KernelState;
  #settings: ModeSettings;
  #nodeIPs: readonly Ip[];
  /** The writer has not read the kernel yet, or a write failed half way. */
  #mustAdopt = true;

  constructor(options: IpvsWriterOptions, sockets: KernelSockets, book: PlanBook) {
    this.#options = options;
    this.#book = book;
    this.#settings = options.settings;
    this.#nodeIPs = options.nodeIPs();
    this.#plans = new RenderedPlans(this.#context());
    this.#kernel = new KernelState(options, sockets);
  }

  get wanted(): WantedObjects {
    return this.#plans.wanted;
  }

  get isNextWriteFull(): boolean {
    return this.#mustAdopt;
  }

  /** Whether iptables had the chain before the first write. */
  hadChain(chain: string): boolean {
    return this.#kernel.rules.hadChain(chain);
  }

  /** Whether kube-ipvs0 should have the address. */
  needsAddress(ip: Ip): boolean {
    return this.#kernel.addresses.known.has(ip) && this.wanted.element('ipvsIPs', ip) !== undefined;
  }

  takePlans(plans: PlanDiff): void {
    this.#plans.take(plans);
    // The kernel may accept the new version. If it refuses that too, the mode reports it again.
    const changed = [...plans.removed, ...plans.updated.map(({ to }) => to), ...plans.added];
    for (const plan of changed) this.#book.clear(planId(plan));
  }

  takeSettings(settings: ModeSettings): void {
    this.#settings = settings;
    this.#nodeIPs = this.#options.nodeIPs();
    this.#plans.setContext(this.#context(this.#plans.context.missingSchedulers));
  }

  write(): Promise<WriteOutcome> {
    return this.#withoutFailing(() => this.#write());
  }

  findDrift(look: DriftLook): Promise<Drift | undefined> {
    return this.#options.turn(async () => findDrift(look, this.#mustAdopt ? undefined : this.#kernel));
  }

  async repair(): Promise<string | undefined> {
    const summary = await this.#withoutFailing(() => this.#adopt());
    return summary.isEmpty ? undefined : `${summary}`;
  }

  readBack(plan: ServicePortPlan): Promise<KernelReading> {
    const { iptables, strictARP = false, namespace } = this.#options;
    const { context, wanted } = this.#plans;
    return readBackIpvs({ plan, context, wanted, rules: this.#ruleInput(), iptables, strictARP, namespace });
  }

  async listing(plans: readonly ServicePortPlan[]): Promise<Listing> {
    const { context, wanted } = this.#plans;
    return listIpvs({ plans, context, wanted, rules: this.#ruleInput() });
  }

  get leftoversDueMs(): number | undefined {
    return this.#kernel.servers.isDraining && !this.#mustAdopt ? DRAIN_CHECK_MS : undefined;
  }

  /** Removes real servers whose last connection ended. */
  removeLeftovers(): Promise<void> {
    return this.#kernel.servers.drain(this.wanted);
  }

  endConnections(ended: readonly EndedEndpoint[]): Promise<void> {
    return this.#kernel.servers.endNow(this.wanted, ended);
  }

  /** If this program fails to encode objects, leaves their service ports out and writes once more. */
  async #withoutFailing<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof KernelError) throw error;
      this.#plans.leaveOutFailing(error);
      return write();
    }
  }

  async #write(): Promise<WriteOutcome> {
    if (this.#mustAdopt) {
      await this.#adopt();
      return 'written';
    }
    const summary = new WriteSummary();
    const refused = await this.#apply(this.wanted.takeChanged(), summary);
    if (refused.some(({ isStale }) => isStale)) {
      this.#mustAdopt = true;
      return 'needs-full-write';
    }
    this.#postpone(await this.#retryWithoutSchedulers(refused, summary));
    this.#book.finishWrite();
    return 'written';
  }

  /** Reads the kernel and writes what differs from what is wanted. */
  async #adopt(): Promise<WriteSummary> {
    const summary = new WriteSummary();
    for (let attempt = 1; ; attempt++) {
      this.#mustAdopt = true;
      await this.#kernel.read(this.wanted, new Set(this.#nodeIPs));
      await this.#kernel.createMissing(summary);
      this.wanted.takeChanged();
      const refused = await this.#apply(allNames(this.wanted, this.#kernel.known), summary);
      if (attempt < ADOPT_ATTEMPTS && refused.some(({ isStale }) => isStale)) continue;
      // Other programs may use the sets too. The quick look compares with this number.
      this.#kernel.sets.noteReferences();
      const postponed = this.#postpone(await this.#retryWithoutSchedulers(refused, summary));
      for (const id of this.#book.setAsideIds()) if (!postponed.has(id)) this.#book.clear(id);
      this.#book.finishWrite();
      return summary;
    }
  }

  async #apply(names: ObjectNames, summary: WriteSummary): Promise<readonly RefusedObject[]> {
    this.#mustAdopt = true;
    const refused = await this.#kernel.write(names, this.wanted, this.#settings, summary);
    this.#mustAdopt = false;
    return refused;
  }

  /** Writes with the configured scheduler where the kernel lacks another one. Returns what the kernel still refuses. */
  async #retryWithoutSchedulers(
    refused: readonly RefusedObject[],
    summary: WriteSummary,
  ): Promise<readonly RefusedObject[]> {
    const { scheduler } = this.#options;
    const lacking = refused.filter(({ missingScheduler = scheduler }) => missingScheduler !== scheduler);
    if (lacking.length === 0) return refused;
    this.#doWithoutSchedulers(lacking);
    // All plans are rendered again, so this write covers everything that the kernel has refused so far.
    const stillRefused = await this.#apply(this.wanted.takeChanged(), summary);
    return this.#retryWithoutSchedulers(stillRefused, summary);
  }

  #doWithoutSchedulers(lacking: readonly RefusedObject[]): void {
    const { family, scheduler, events } = this.#options;
    const { context } = this.#plans;
    const missingSchedulers = new Set(context.missingSchedulers);
    for (const { missingScheduler, error } of lacking) {
      if (missingScheduler === undefined || missingSchedulers.has(missingScheduler)) continue;
      missingSchedulers.add(missingScheduler);
      events.notice(
        family,
        `The kernel lacks scheduler ${missingScheduler}, which a Service asks for, so the mode uses ${scheduler}: ${errorText(error)}`,
      );
    }
    this.#plans.setContext({ ...context, missingSchedulers });
  }

  /** Sets the service ports of refused objects aside, and those that cannot be prepared. Returns their ids. */
  #postpone(refused: readonly RefusedObject[]): ReadonlySet<string> {
    const errors = new Map(refused.map(({ id, error }) => [id, error]));
    const postponed = new Set<string>();
    for (const [id, error] of this.#plans.failed) {
      this.#book.postpone(id, causeOf(error));
      postponed.add(id);
    }
    for (const { id, object } of this.#plans.plansWith(errors)) {
      this.#book.postpone(id, { ...causeOf(errors.get(object)), object });
      postponed.add(id);
    }
    return postponed;
  }

  #ruleInput(): RuleInput {
    const { family, iptables } = this.#options;
    const input = ruleInput(family, this.wanted, this.#settings, iptables.features.randomFully);
    return this.#kernel.rules.accepted(input);
  }

  #context(missingSchedulers?: ReadonlySet<string>): RenderContext {
    const { family, scheduler } = this.#options;
    return renderContext({ family, scheduler, missingSchedulers, settings: this.#settings, nodeIPs: this.#nodeIPs });
  }
}
