import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Iptables, IptablesError } from '../../kernel/iptables/index.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Family } from '../../net/index.ts';
import { type PlanDiff, planName, type ServicePortPlan } from '../../plan/index.ts';
import type { ModeEvents, SetAside, SyncReport } from '../mode.ts';
import { notePlans } from '../note-plans.ts';
import { findRefused, ownersOf } from './blame.ts';
import { whatIsMissing } from './drift.ts';
import { nodePortRules, type Table } from './fixed.ts';
import { ensureFrame, natChains } from './frame.ts';
import { CHAINS_A_PART, type FullTextPart, fullText, fullTextParts } from './full-text.ts';
import { partialTexts } from './partial-text.ts';
import { Refusals } from './refusals.ts';
import { removeChains } from './remove-chains.ts';
import type { RestoreText } from './restore-text.ts';
import { type RuleOptions, sameRules } from './rule-options.ts';
import { mostChains } from './service-chains.ts';
import { staleChains } from './stale-chains.ts';
import type { Change, Written } from './written.ts';
import { WrittenRules } from './written-rules.ts';

/** After so long everything is written anew, whatever is thought to be there. */
const FULL_SYNC_PERIOD_MS = 3_600_000;
/** More endpoints than this are a large cluster: comments of endpoints are left out, and nothing is written needlessly. */
const LARGE_CLUSTER = 1000;

/** How often iptables-restore is asked whom it does not like. */
const NAMED_ROUNDS = 5;

/** The rules of one family: what is wanted, what is written, and what iptables-restore would not take. */
export class FamilyRules {
  readonly family: Family;
  readonly #iptables: Iptables;
  readonly #events: ModeEvents;
  readonly #now: () => number;
  readonly #wanted = new Map<string, ServicePortPlan>();
  readonly #refusals = new Refusals();
  readonly #dirty = new Set<string>();
  /** Only a guess while unsure. */
  readonly #written: WrittenRules;
  #options: RuleOptions;
  /** Nothing was written yet, or a restore failed, or someone else changed our rules. */
  #unsure = true;
  #isLarge = false;
  #lastFullSync = 0;

  constructor(family: Family, iptables: Iptables, options: RuleOptions, events: ModeEvents, now: () => number) {
    this.family = family;
    this.#iptables = iptables;
    this.#options = options;
    this.#written = new WrittenRules(options);
    this.#events = events;
    this.#now = now;
  }

  /** Notes what is wanted; nothing is written before `sync`. */
  want(plans: PlanDiff): void {
    notePlans(plans, this.#wanted, this.#dirty);
  }

  setOptions(options: RuleOptions): void {
    if (!sameRules(this.#options, options)) this.#unsure = true;
    this.#options = options;
  }

  get options(): RuleOptions {
    return this.#options;
  }

  get setAside(): readonly SetAside[] {
    return this.#refusals.list(this.family);
  }

  /** Whether the next sync writes everything. */
  get isFull(): boolean {
    const isDue = this.#now() - this.#lastFullSync > FULL_SYNC_PERIOD_MS && !this.#isLarge;
    return this.#unsure || isDue;
  }

  /** Forgets what is thought to be written. */
  doubt(): void {
    this.#unsure = true;
  }

  /** Writes what changed, or everything. `endpoints`: all that there are, usable or not. */
  async sync(endpoints: number): Promise<SyncReport> {
    const full = this.isFull;
    this.#isLarge = isLargeCluster(endpoints);
    this.#refusals.forgetChanged(this.#wanted);
    if (!full) {
      if (await this.#writeChanges()) return { full };
      this.#unsure = true;
    }
    await this.#writeEverything();
    return { full: true };
  }

  /** What someone else took away from our rules, in words; undefined if nothing. */
  async missing(): Promise<string | undefined> {
    if (this.#unsure) return undefined;
    return whatIsMissing(this.#iptables, this.#written.ports, this.#options);
  }

  /** False if that failed in a way that writing everything may mend. */
  async #writeChanges(): Promise<boolean> {
    const changes = this.#changes();
    const tail = nodePortRules(this.#options);
    const texts = partialTexts(changes, {
      options: this.#options,
      tail: { from: this.#written.tail, to: tail },
      size: (table, chain) => this.#written.counts.ofShared(table, chain),
      all: () => this.#written.after(changes),
      inParts: this.#inParts,
    });
    const last: Record<Table, number> = { filter: 0, nat: 0 };
    try {
      for (const text of texts) await this.#restore(text, last);
    } catch (error) {
      this.#unsure = true;
      this.#events.measured(this.family, { kind: 'refused', partial: true });
      if (error instanceof IptablesError && error.isAboutRules) return false;
      throw error;
    }
    this.#written.change(changes, tail, this.#options);
    this.#settle(last);
    return true;
  }

  #changes(): readonly Change[] {
    const changes: Change[] = [];
    for (const id of this.#dirty) {
      const plan = this.#wanted.get(id);
      const from = this.#written.get(id);
      if (from?.plan !== plan && !this.#refusals.has(id, plan))
        changes.push({ id, from, to: plan && this.#asWritten(plan) });
    }
    return changes;
  }

  async #writeEverything(): Promise<void> {
    this.#unsure = true;
    let present = await ensureFrame(this.#iptables);
    for (let round = 1; ; round++) {
      const goal = this.#goal();
      try {
        await this.#writeGoal(goal, present);
        break;
      } catch (error) {
        this.#events.measured(this.family, { kind: 'refused', partial: false });
        if (!(error instanceof IptablesError && error.isAboutRules)) throw error;
        await this.#blame(error, [...goal], round);
        // Parts that went well before have chains of those that are to blame.
        present = await natChains(this.#iptables);
      }
    }
    this.#unsure = false;
    this.#lastFullSync = this.#now();
  }

  /** What should be written: what is wanted, and for what was refused its last good version. */
  #goal(): Map<string, Written> {
    const goal = new Map<string, Written>();
    for (const [id, plan] of this.#wanted) {
      const chosen = this.#refusals.choose(id, plan);
      if (chosen) goal.set(id, this.#asWritten(chosen));
    }
    return goal;
  }

  async #writeGoal(goal: Map<string, Written>, present: ReadonlySet<string>): Promise<void> {
    const options = this.#options;
    const plans = [...goal.values()].map(({ plan }) => plan);
    const last: Record<Table, number> = { filter: 0, nat: 0 };
    for (const { text, done } of this.#fullTexts(plans)) {
      await this.#restore(text, last);
      if (done < plans.length) this.#events.progress(this.family, done, plans.length);
      await nextTurn();
    }
    this.#written.replace(goal, nodePortRules(options), last, options);
    this.#settle(last);
    await this.#removeStale(staleChains(present, plans, options));
  }

  *#fullTexts(plans: readonly ServicePortPlan[]): Generator<FullTextPart> {
    const withComments = !this.#isLarge;
    const chains = plans.reduce((sum, plan) => sum + mostChains(plan), 0);
    if (this.#inParts && chains > CHAINS_A_PART) yield* fullTextParts(plans, this.#options, withComments);
    else yield { text: fullText(plans, this.#options, withComments), done: plans.length };
  }

  /** iptables-legacy writes the whole table at every restore, so parts would only cost time there. */
  get #inParts(): boolean {
    return this.#iptables.backend === 'nf_tables';
  }

  /** Beside the sync's success: a chain that someone else jumps to cannot be removed, and harms nobody. */
  async #removeStale(chains: readonly string[]): Promise<void> {
    const { errors } = await removeChains(this.#iptables, 'nat', chains);
    if (errors.length > 0) this.#events.measured(this.family, { kind: 'cleanup-failed' });
    for (const error of errors) this.#events.failed('removing chains that are no longer used', error);
  }

  /** The programs name the first that they do not like, so where there are many a search is quicker. */
  async #blame(error: IptablesError, goal: readonly (readonly [string, Written])[], round: number): Promise<void> {
    const named = round > NAMED_ROUNDS ? [] : ownersOf(error, goal, this.#options);
    const guilty = named.length > 0 ? named : await findRefused(error, this.#iptables, goal, this.#options);
    if (guilty.length === 0) throw error;
    const text = errorText(error);
    for (const id of guilty) {
      const plan = this.#wanted.get(id);
      if (!plan || !this.#refusals.add(id, plan, text, this.#written.get(id)?.plan)) continue;
      this.#events.setAside({ family: this.family, servicePort: planName(plan), error: text });
    }
  }

  async #restore(text: RestoreText, last: Record<Table, number>): Promise<void> {
    const start = performance.now();
    await this.#iptables.restore(text);
    for (const table of ['filter', 'nat'] as const) last[table] += text.table(table).added;
    const milliseconds = performance.now() - start;
    this.#events.measured(this.family, { kind: 'batch', objects: text.size, milliseconds });
  }

  #settle(last: Readonly<Record<Table, number>>): void {
    this.#dirty.clear();
    for (const table of ['filter', 'nat'] as const) {
      const total = this.#written.counts.total(table);
      this.#events.measured(this.family, { kind: 'rules', table, total, last: last[table] });
    }
  }

  #asWritten(plan: ServicePortPlan): Written {
    return { plan, withComments: !this.#isLarge };
  }
}

export function isLargeCluster(endpoints: number): boolean {
  return endpoints > LARGE_CLUSTER;
}
