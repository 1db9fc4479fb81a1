import type { Family } from '../net/index.ts';
import { type PlanDiff, planId, type ServicePortPlan } from '../plan/index.ts';
import { type SetAside, type SetAsideCause, setAsideOf } from './set-aside.ts';

/** One service port: the plan that is committed, and the plan that should be. At least one of them exists. */
export interface PlanChange {
  readonly id: string;
  readonly from: ServicePortPlan | undefined;
  readonly to: ServicePortPlan | undefined;
}

interface Refusal {
  readonly setAside: SetAside;
  /** The writer leaves the plan out until it changes; otherwise it tries the plan at every write. */
  readonly isFinal: boolean;
}

/** The plans of one family: wanted, committed and refused. */
export class PlanBook {
  readonly family: Family;
  readonly #onSetAside: (port: SetAside) => void;
  readonly #wanted = new Map<string, ServicePortPlan>();
  readonly #committed = new Map<string, ServicePortPlan>();
  readonly #refused = new Map<string, Refusal>();
  /** Service ports that changed since the last write. */
  readonly #changed = new Set<string>();
  /** What was committed before the writer began to read the kernel again: a version to fall back on. */
  readonly #lastGood = new Map<string, ServicePortPlan>();

  constructor(family: Family, onSetAside: (port: SetAside) => void = () => {}) {
    this.family = family;
    this.#onSetAside = onSetAside;
  }

  /** Takes the changes of the wanted plans. The next write includes a refused plan that changed. */
  take({ added, updated, removed }: PlanDiff): void {
    for (const plan of removed) this.#want(planId(plan), undefined);
    for (const plan of added) this.#want(planId(plan), plan);
    for (const { to } of updated) this.#want(planId(to), to);
  }

  wantedPlan(id: string): ServicePortPlan | undefined {
    return this.#wanted.get(id);
  }

  /** A copy of all wanted plans, by id. */
  wantedPlans(): ReadonlyMap<string, ServicePortPlan> {
    return new Map(this.#wanted);
  }

  /** The ids of all wanted plans. */
  wantedIds(): readonly string[] {
    return [...this.#wanted.keys()];
  }

  /** All wanted plans, without a copy. */
  wanted(): Iterable<ServicePortPlan> {
    return this.#wanted.values();
  }

  committedPlan(id: string): ServicePortPlan | undefined {
    return this.#committed.get(id);
  }

  /** A copy of all committed plans, by id. */
  committedPlans(): ReadonlyMap<string, ServicePortPlan> {
    return new Map(this.#committed);
  }

  /** The service ports that changed since the last complete write. */
  changedIds(): readonly string[] {
    return [...this.#changed];
  }

  /** What a partial write must write. */
  changes(): PlanChange[] {
    return this.#changesOf(this.#changed);
  }

  /** What a full write must write. */
  allChanges(): PlanChange[] {
    return this.#changesOf(this.#wanted.keys());
  }

  /** The plan that should be committed: the wanted one, or the last good version of a refused one. */
  target(id: string): ServicePortPlan | undefined {
    return this.isRefused(id) ? (this.#committed.get(id) ?? this.#lastGood.get(id)) : this.#wanted.get(id);
  }

  /** The kernel has these changes. */
  commit(changes: Iterable<PlanChange>): void {
    for (const { id, to } of changes) {
      if (to) this.#committed.set(id, to);
      else this.#committed.delete(id);
    }
  }

  /** The kernel has everything that changed. For all plans at once, this takes less memory than a list of changes. */
  commitChanged(): void {
    for (const id of this.#changed) {
      const to = this.target(id);
      if (to) this.#committed.set(id, to);
      else this.#committed.delete(id);
    }
    this.finishWrite();
  }

  /** Everything that changed is written. */
  finishWrite(): void {
    this.#changed.clear();
  }

  /** All service ports must be written again. */
  changeAll(): void {
    for (const id of this.#wanted.keys()) this.#changed.add(id);
  }

  /** What the kernel has is unknown: a full write begins. */
  forgetCommitted(): void {
    for (const [id, plan] of this.#committed) this.#lastGood.set(id, plan);
    this.#committed.clear();
  }

  /** A full write has ended: the kernel has every plan that it does not refuse. */
  finishFullWrite(): void {
    this.#lastGood.clear();
  }

  isRefused(id: string): boolean {
    return this.#refused.get(id)?.isFinal === true;
  }

  /**
   * Sets a service port aside because the kernel refuses its plan. Until the plan changes, no write includes it.
   * Returns the change to its last good version, if there is one.
   */
  refuse(id: string, cause: SetAsideCause): PlanChange | undefined {
    const plan = this.#wanted.get(id);
    if (!plan) return undefined;
    if (this.isRefused(id)) {
      // The kernel refuses the last good version too.
      this.#lastGood.delete(id);
      return undefined;
    }
    this.#setAside(id, plan, cause, true);
    const good = this.#lastGood.get(id);
    if (good !== plan) return good && { id, from: undefined, to: good };
    this.#lastGood.delete(id);
    return undefined;
  }

  /** Sets a service port, or a part of it, aside. The next write tries it again. */
  postpone(id: string, cause: SetAsideCause): void {
    const plan = this.#wanted.get(id);
    if (plan) this.#setAside(id, plan, cause, false);
  }

  /** The service port is programmed. */
  clear(id: string): void {
    this.#refused.delete(id);
  }

  /** The next write includes every refused plan. */
  retryRefused(): void {
    for (const [id, refusal] of this.#refused) this.#refused.set(id, { ...refusal, isFinal: false });
  }

  setAside(): readonly SetAside[] {
    return Array.from(this.#refused.values(), ({ setAside }) => setAside);
  }

  setAsideIds(): readonly string[] {
    return [...this.#refused.keys()];
  }

  #setAside(id: string, plan: ServicePortPlan, cause: SetAsideCause, isFinal: boolean): void {
    const isKnown = this.#refused.get(id)?.setAside.cause.message === cause.message;
    const setAside = setAsideOf(this.family, plan, cause);
    this.#refused.set(id, { setAside, isFinal });
    if (!isKnown) this.#onSetAside(setAside);
  }

  #want(id: string, plan: ServicePortPlan | undefined): void {
    if (plan) this.#wanted.set(id, plan);
    else this.#wanted.delete(id);
    // A postponed service port stays set aside until it is programmed, so that its cause is not reported again.
    if (!plan || this.isRefused(id)) this.#refused.delete(id);
    this.#changed.add(id);
  }

  #changesOf(ids: Iterable<string>): PlanChange[] {
    const changes: PlanChange[] = [];
    for (const id of ids) {
      const from = this.#committed.get(id);
      const to = this.target(id);
      if (from !== to) changes.push({ id, from, to });
    }
    return changes;
  }
}
