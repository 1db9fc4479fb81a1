import { setImmediate as nextTurn } from 'node:timers/promises';
import { KernelError } from '../../kernel/errors.ts';
import { type Iptables, IptablesError } from '../../kernel/iptables/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { planId, reachableEndpoints, type ServicePortPlan } from '../../plan/index.ts';
import type { ModeMachine } from '../descriptor.ts';
import type { Listing } from '../listing.ts';
import type { ModeEvents, ModeSettings } from '../mode.ts';
import type { PlanBook } from '../plan-book.ts';
import type { KernelReading } from '../read-back.ts';
import { type PreparationError, preparationErrorOf } from '../refusal-search.ts';
import { causeOf } from '../set-aside.ts';
import type { ServicePortTraffic } from '../traffic/index.ts';
import type { Drift, WriteOutcome, Writer } from '../writer.ts';
import { ensureJumpsAndCanaries, natChains } from './chains/jumps-and-canaries.ts';
import { removeChains } from './chains/remove-chains.ts';
import { staleChains } from './chains/stale-chains.ts';
import { partialTexts } from './diff.ts';
import { DriftFinder } from './drift.ts';
import { listIptables } from './listing.ts';
import { MachineState } from './machine/machine-state.ts';
import { RuleTraffic } from './machine/rule-traffic.ts';
import { readBackIptables } from './read-back.ts';
import { CHAINS_PER_RESTORE, type FullTextPart, fullText, fullTextParts } from './render.ts';
import { CommittedRules } from './rules/committed-rules.ts';
import { nodePortRules, type Table } from './rules/fixed-rules.ts';
import { keptTurns } from './rules/kept-turns.ts';
import { missingRules } from './rules/missing-rules.ts';
import { findRefused, ownersOfLines } from './rules/refused-rules.ts';
import type { RenderChange, RenderInput } from './rules/render-input.ts';
import type { RestoreText } from './rules/restore-text.ts';
import { type RuleOptions, ruleOptions, sameRules } from './rules/rule-options.ts';
import { maxChains, ownChains } from './rules/service-chains.ts';
import { allSharedRules } from './rules/service-rules.ts';

export interface IptablesWriterOptions extends ModeMachine {
  readonly iptables: Iptables;
  readonly localhostNodePorts: boolean;
  readonly keepNodeSourcePorts: boolean;
  readonly settings: ModeSettings;
  readonly book: PlanBook;
  readonly events: ModeEvents;
  readonly clock: Clock;
  /** Runs work that changes nothing while no write runs. */
  turn<T>(work: () => Promise<T>): Promise<T>;
}

/** After this time the writer writes everything again, even if the kernel seems to have it. */
const FULL_SYNC_PERIOD_MS = 3_600_000;
/** In a cluster with more endpoints, their rules have no comments, and the writer makes no hourly full write. */
const LARGE_CLUSTER = 1000;
/** How often the writer relies on the lines that iptables-restore names. It names the first refused line only. */
const NAMED_ROUNDS = 5;

type Counts = Record<Table, number>;
/** A service port that should be committed, by its id. */
type Target = readonly [id: string, input: RenderInput];

/** Writes the rules of one family. */
export class IptablesWriter implements Writer {
  readonly #options: IptablesWriterOptions;
  readonly #machine: MachineState;
  readonly #drift: DriftFinder;
  /** Made when a caller first asks for traffic. */
  #traffic: RuleTraffic | undefined;
  /** May differ from the kernel if the next write is a full one. */
  readonly #committed: CommittedRules;
  #settings: ModeSettings;
  #rules: RuleOptions;
  /** The writer has written nothing yet, or a restore failed, or another program changed our rules. */
  #mustWriteAll = true;
  #isLarge = false;
  #lastFullWrite = 0;

  constructor(options: IptablesWriterOptions) {
    const { book, iptables, clock, settings, turn } = options;
    const notice = (message: string) => options.events.notice(book.family, message);
    this.#options = options;
    this.#settings = settings;
    this.#machine = new MachineState({ ...options, family: book.family, notice });
    this.#rules = this.#ruleOptions();
    this.#committed = new CommittedRules(book, this.#rules);
    this.#drift = new DriftFinder({ iptables, clock, notice, missing: () => turn(() => this.#missingRules()) });
  }

  takeSettings(settings: ModeSettings): void {
    this.#settings = settings;
    const rules = this.#ruleOptions();
    if (!sameRules(this.#rules, rules)) this.#mustWriteAll = true;
    this.#rules = rules;
  }

  get isNextWriteFull(): boolean {
    const isDue = this.#options.clock.elapsed() - this.#lastFullWrite > FULL_SYNC_PERIOD_MS && !this.#isLarge;
    return this.#mustWriteAll || isDue;
  }

  async write(): Promise<WriteOutcome> {
    const isFull = this.isNextWriteFull;
    this.#isLarge = isLargeCluster(this.#endpointCount());
    if (isFull) await this.#machine.ensurePacketCounters();
    this.#machine.prepare(this.#settings);
    this.#rules = this.#ruleOptions();
    if (!isFull) return this.#writeChanges();
    await this.#writeEverything();
    return 'written';
  }

  async findDrift(): Promise<Drift | undefined> {
    const cause = await this.#drift.find();
    return cause === undefined ? undefined : { cause };
  }

  async repair(): Promise<string> {
    const { book, events } = this.#options;
    this.#mustWriteAll = true;
    try {
      await this.write();
    } catch (error) {
      events.measured(book.family, { kind: 'refused', full: true });
      throw error;
    }
    return 'wrote all rules again';
  }

  /** What the counters of rules say. Waits for no other work. */
  traffic(): AsyncGenerator<ServicePortTraffic> {
    const { iptables, book } = this.#options;
    this.#traffic ??= new RuleTraffic(iptables, book.family);
    return this.#traffic.read(book.wanted());
  }

  readBack(plan: ServicePortPlan): Promise<KernelReading> {
    const { iptables, namespace, book } = this.#options;
    return readBackIptables({
      plan,
      withComments: this.#hasComments(plan),
      iptables,
      namespace,
      options: this.#rules,
      isServicePort: (name, protocol) => book.wantedPlan(`${name}/${protocol}`) !== undefined,
    });
  }

  listing(plans: readonly ServicePortPlan[]): Promise<Listing> {
    const inputs = plans.map(plan => ({ plan, withComments: this.#hasComments(plan) }));
    return listIptables({ options: this.#rules, inputs, counts: this.#committed.counts });
  }

  /** Notifies the operator of rules in the backend that this mode does not write to. */
  noticeOtherBackend(): Promise<void> {
    return this.#machine.noticeOtherBackend();
  }

  close(): void {
    this.#drift.close();
  }

  #ruleOptions(): RuleOptions {
    return ruleOptions(this.#options.book.family, this.#settings, this.#machine.options(this.#settings));
  }

  async #missingRules(): Promise<string | undefined> {
    if (this.#mustWriteAll) return undefined;
    return missingRules(this.#options.iptables, this.#committed.inputs(), this.#rules);
  }

  async #writeChanges(): Promise<WriteOutcome> {
    const { book, events } = this.#options;
    const changes = book.changes().map(({ id, to }): RenderChange => {
      return { id, from: this.#committed.get(id), to: to && this.#input(to) };
    });
    const lastRules = nodePortRules(this.#rules);
    const texts = partialTexts(changes, {
      options: this.#rules,
      lastRules: { from: this.#committed.lastRules, to: lastRules },
      size: (table, chain) => this.#committed.counts.inSharedChain(table, chain),
      all: () => this.#committed.after(changes),
      inParts: this.#inParts,
    });
    const added: Counts = { filter: 0, nat: 0 };
    try {
      for (const text of texts) await this.#restore(text, added);
    } catch (error) {
      this.#mustWriteAll = true;
      const targets = changes.flatMap(({ id, to }): Target[] => (to ? [[id, to]] : []));
      // This throws if no service port is the reason. Otherwise the full write sets it aside.
      if (!isAboutRules(error)) this.#preparationError(error, targets);
      events.measured(book.family, { kind: 'refused', full: false });
      return 'needs-full-write';
    }
    this.#committed.commit(changes, lastRules, this.#rules);
    this.#finish(added);
    return 'written';
  }

  async #writeEverything(): Promise<void> {
    const { iptables, book, events, clock } = this.#options;
    this.#mustWriteAll = true;
    let present = await ensureJumpsAndCanaries(iptables);
    book.forgetCommitted();
    let kept: ReadonlySet<string> | undefined;
    for (let round = 1; ; round++) {
      const targets = this.#targets();
      try {
        kept ??= await keptTurns(iptables, targets.values(), this.#rules);
        await this.#writeTargets(targets, present, kept);
        break;
      } catch (error) {
        await this.#setAsideRefused(error, [...targets], round);
        events.measured(book.family, { kind: 'refused', full: true });
        // Parts that were restored before have chains of service ports that are set aside now.
        present = await natChains(iptables);
      }
    }
    book.finishFullWrite();
    this.#mustWriteAll = false;
    this.#lastFullWrite = clock.elapsed();
  }

  #targets(): Map<string, RenderInput> {
    const { book } = this.#options;
    const targets = new Map<string, RenderInput>();
    for (const id of book.wantedPlans().keys()) {
      const plan = book.target(id);
      if (plan) targets.set(id, this.#input(plan));
    }
    return targets;
  }

  async #writeTargets(
    targets: Map<string, RenderInput>,
    present: ReadonlySet<string>,
    kept: ReadonlySet<string>,
  ): Promise<void> {
    const { events, book } = this.#options;
    const plans = Array.from(targets.values(), ({ plan }) => plan);
    const added: Counts = { filter: 0, nat: 0 };
    let keptRules = 0;
    for (const { text, done } of this.#fullTexts(plans, kept)) {
      await this.#restore(text, added);
      keptRules += text.table('nat').kept;
      if (done < plans.length) events.progress(book.family, done, plans.length);
      await nextTurn();
    }
    const totals = { ...added, nat: added.nat + keptRules };
    this.#committed.replace(targets, nodePortRules(this.#rules), totals, this.#rules);
    this.#finish(added);
    await this.#removeStale(staleChains(present, plans, this.#rules));
  }

  *#fullTexts(plans: readonly ServicePortPlan[], kept: ReadonlySet<string>): Generator<FullTextPart> {
    const withComments = !this.#isLarge;
    const chains = plans.reduce((sum, plan) => sum + maxChains(plan), 0);
    if (this.#inParts && chains > CHAINS_PER_RESTORE) yield* fullTextParts(plans, this.#rules, withComments, kept);
    else yield { text: fullText(plans, this.#rules, withComments, kept), done: plans.length };
  }

  /** iptables-legacy writes the whole table at every restore, so several restores would only take longer. */
  get #inParts(): boolean {
    return this.#options.iptables.backend === 'nf_tables';
  }

  /** The sync succeeds even if a chain stays: another program jumps to it, and it does no harm. */
  async #removeStale(chains: readonly string[]): Promise<void> {
    const { iptables, events, book } = this.#options;
    const { family } = book;
    const { errors } = await removeChains(iptables, 'nat', chains);
    if (errors.length > 0) events.measured(family, { kind: 'cleanup-failed' });
    for (const error of errors) events.failed({ family, action: `remove ${family} chains that are not used`, error });
  }

  /** If many lines are refused, a search is quicker than asking iptables-restore for one line after another. */
  async #setAsideRefused(error: unknown, targets: readonly Target[], round: number): Promise<void> {
    const { iptables, book } = this.#options;
    if (!isAboutRules(error)) {
      for (const [[id], own] of this.#preparationError(error, targets).failed) book.refuse(id, causeOf(own));
      return;
    }
    const named = round > NAMED_ROUNDS ? [] : ownersOfLines(error, targets, this.#rules);
    const refused = named.length > 0 ? named : await findRefused(iptables, targets, this.#rules);
    if (refused.length === 0) throw error;
    for (const id of refused) book.refuse(id, causeOf(error));
  }

  #preparationError(error: unknown, targets: readonly Target[]): PreparationError<Target> {
    if (error instanceof KernelError) throw error;
    return preparationErrorOf(error, targets, ([, { plan, withComments }]) => {
      allSharedRules(plan, this.#rules);
      ownChains(plan, this.#rules, withComments);
    });
  }

  async #restore(text: RestoreText, added: Counts): Promise<void> {
    const { iptables, events, book } = this.#options;
    const start = performance.now();
    await iptables.restore(text);
    for (const table of ['filter', 'nat'] as const) added[table] += text.table(table).added;
    const milliseconds = performance.now() - start;
    events.measured(book.family, { kind: 'batch', objects: text.size, milliseconds });
  }

  #finish(added: Readonly<Counts>): void {
    const { events, book } = this.#options;
    book.finishWrite();
    for (const table of ['filter', 'nat'] as const) {
      const total = this.#committed.counts.total(table);
      events.measured(book.family, { kind: 'rules', table, total, last: added[table] });
    }
  }

  #hasComments(plan: ServicePortPlan): boolean {
    return this.#committed.get(planId(plan))?.withComments ?? !this.#isLarge;
  }

  #input(plan: ServicePortPlan): RenderInput {
    if (plan.balance?.algorithm === 'round-robin') this.#machine.noticeLostTurns();
    return { plan, withComments: !this.#isLarge };
  }

  #endpointCount(): number {
    const { endpointCount } = this.#settings;
    if (endpointCount) return endpointCount();
    let count = 0;
    for (const { endpoints } of this.#options.book.wantedPlans().values())
      count += reachableEndpoints(endpoints).length;
    return count;
  }
}

function isAboutRules(error: unknown): error is IptablesError {
  return error instanceof IptablesError && error.isAboutRules;
}

export function isLargeCluster(endpoints: number): boolean {
  return endpoints > LARGE_CLUSTER;
}
