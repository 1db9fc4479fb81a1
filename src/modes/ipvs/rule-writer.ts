import { type Iptables, parseSave, type SavedTables } from '../../kernel/iptables/index.ts';
import { CHAINS, JUMPS, type Jump, jumpRule, type RuleInput, restoreText, sameRules, TABLES } from './rules.ts';
import { type Measured, timed, type Written } from './written.ts';

/** Writes the rules of one family, and knows whether they are still as written. */
export class RuleWriter {
  readonly #iptables: Iptables;
  readonly #measured: Measured;
  #last: RuleInput | undefined;
  /** What iptables-save said of our chains after we wrote them. */
  #saved = '';
  #present: SavedTables | undefined;

  constructor(iptables: Iptables, measured: Measured) {
    this.#iptables = iptables;
    this.#measured = measured;
  }

  get randomFully(): boolean {
    return this.#iptables.features.randomFully;
  }

  /** Looks at the rules as they are, so that the next write puts right what differs. */
  async read(): Promise<void> {
    const tables = await this.#save();
    if (ownRules(tables) !== this.#saved) this.#last = undefined;
    this.#present = tables;
  }

  /** Says whether something was written. */
  async write(input: RuleInput, written: Written): Promise<boolean> {
    if (this.#last && sameRules(this.#last, input)) return false;
    const present = this.#present ?? (await this.#save());
    this.#last = undefined;
    this.#present = undefined;
    const text = restoreText(input, missingJumps(present));
    await timed(this.#measured, text.split('\n').length - 1, () => this.#iptables.restore(text));
    this.#saved = ownRules(await this.#save());
    this.#last = input;
    written.add('rewrote rules');
    return true;
  }

  async #save(): Promise<SavedTables> {
    return parseSave(await this.#iptables.save());
  }
}

export function missingJumps(tables: SavedTables): readonly Jump[] {
  return JUMPS.filter(jump => {
    const rules = tables.get(jump.table)?.get(jump.from)?.rules ?? [];
    return !rules.some(({ text }) => text === jumpRule(jump));
  });
}

/** The text of our chains and of what jumps to them. */
function ownRules(tables: SavedTables): string {
  const chains = TABLES.flatMap(table =>
    CHAINS[table].map(chain => {
      const rules = tables.get(table)?.get(chain)?.rules;
      return `${table} ${chain} ${rules ? rules.map(({ text }) => text).join('\n') : 'is missing'}`;
    }),
  );
  return [...chains, ...missingJumps(tables).map(({ table, from, to }) => `${table} ${from} ${to}`)].join('\n');
}
