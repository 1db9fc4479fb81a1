import { type Iptables, parseSave, type SavedTables } from '../../kernel/iptables/index.ts';
import { CHAINS, JUMPS, type Jump, jumpRule, type RuleInput, restoreText, sameRules, TABLES } from './rules.ts';
import { type Measured, timed, type Written } from './written.ts';

/** Writes the rules of one family, and knows whether they are still as written. */
export class RuleWriter {
  readonly #iptables: Iptables;
  readonly #measured: Measured;
  /** What was written last. */
  #last: RuleInput | undefined;
  /** What iptables-save says of our chains when they are as written; undefined if it was not asked since. */
  #fingerprint: string | undefined;
  #present: SavedTables | undefined;
  /** The names of all chains that were there at the start. */
  #first: ReadonlySet<string> | undefined;

  constructor(iptables: Iptables, measured: Measured) {
    this.#iptables = iptables;
    this.#measured = measured;
  }

  get randomFully(): boolean {
    return this.#iptables.features.randomFully;
  }

  /** Looks at the rules as they are, so that the next write puts right what differs. */
  async read(): Promise<void> {
    this.#present = await this.#save();
    this.#first ??= new Set([...this.#present.values()].flatMap(chains => [...chains.keys()]));
  }

  hadChain(chain: string): boolean {
    return this.#first?.has(chain) ?? false;
  }

  /** Says whether something was written. */
  async write(input: RuleInput, written: Written): Promise<boolean> {
    const present = this.#present;
    this.#present = undefined;
    const isIntact = !present || (this.#fingerprint !== undefined && ownRules(present) === this.#fingerprint);
    if (isIntact && this.#last && sameRules(this.#last, input)) return false;
    const isFirst = this.#last === undefined;
    this.#last = undefined;
    this.#fingerprint = undefined;
    const text = restoreText(input, present ? missingJumps(present) : []);
    await timed(this.#measured, text.split('\n').length - 1, () => this.#iptables.restore(text));
    this.#last = input;
    // Rules are listed otherwise than they are written, so whether they were intact shows only by writing them again.
    if (present && !isFirst) this.#fingerprint = ownRules(await this.#save());
    if (!present || this.#fingerprint !== ownRules(present)) written.add('rewrote rules');
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
