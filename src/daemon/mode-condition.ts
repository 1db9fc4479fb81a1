import type { ModeCondition } from '../modes/index.ts';
import type { Logger } from '../observe/logging/index.ts';

export interface ConditionTargets {
  readonly log: Logger;
  /** Records an Event of the Node: the condition changed after the start, or the part never served. */
  readonly changed: (condition: ModeCondition) => void;
}

/** Reports each change of the condition of a mode once. */
export class ConditionReport {
  readonly #targets: ConditionTargets;
  #last: ModeCondition | undefined;

  constructor(targets: ConditionTargets) {
    this.#targets = targets;
  }

  look(condition: ModeCondition | undefined): void {
    const last = this.#last;
    if (!condition || !isChange(last, condition)) return;
    this.#last = condition;
    const { name: part, isServing, note } = condition;
    const { log } = this.#targets;
    if (isServing) log.info('proxy', 'Part of the mode serves', { part, note });
    else log.warning('proxy', 'Part of the mode does not serve; the network serves alone', { part, reason: note });
    // A start that goes well is no news.
    if (last || !isServing) this.#targets.changed(condition);
  }
}

/** What a part that serves notes changes often: it has numbers. */
function isChange(last: ModeCondition | undefined, { isServing, note }: ModeCondition): boolean {
  return last === undefined || last.isServing !== isServing || (!isServing && last.note !== note);
}
