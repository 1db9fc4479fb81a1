import type { ModeCondition } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import type { Logger } from '../observe/logging/index.ts';

export interface ConditionTargets {
  readonly log: Logger;
  /** Records an Event of the Node: the condition changed after the start, or the part never served. */
  readonly changed: (condition: ModeCondition) => void;
}

/** Reports each change of the condition of a mode once. */
export class ConditionReport {
  readonly #targets: ConditionTargets;
  /** Until every family was synced once, the part may wait for the others. */
  readonly #unsynced: Set<Family>;
  #last: ModeCondition | undefined;

  constructor(families: readonly Family[], targets: ConditionTargets) {
    this.#unsynced = new Set(families);
    this.#targets = targets;
  }

  synced(family: Family, condition: ModeCondition | undefined): void {
    this.#unsynced.delete(family);
    this.look(condition);
  }

  look(condition: ModeCondition | undefined): void {
    const last = this.#last;
    if (this.#unsynced.size > 0 || !condition || !isChange(last, condition)) return;
    this.#last = condition;
    const { name: part, isServing, note } = condition;
    const { log } = this.#targets;
    if (isServing) log.info('proxy', 'Part of the mode serves', { part, note });
    else log.warning('proxy', 'Part of the mode does not serve', { part, reason: note });
    // A start that goes well is no news.
    if (last || !isServing) this.#targets.changed(condition);
  }
}

/** While the part serves, another note is no change: a note may have numbers. */
function isChange(last: ModeCondition | undefined, { isServing, note }: ModeCondition): boolean {
  return last === undefined || last.isServing !== isServing || (!isServing && last.note !== note);
}
