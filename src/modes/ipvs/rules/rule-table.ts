import { type Iptables, IptablesError, parseSave, type SavedTables } from '../../../kernel/iptables/index.ts';
import { CHAINS, JUMPS, type Jump, jumpRule, type RuleInput, restoreText, sameRules, TABLES } from './rule-text.ts';
import { type Measured, timed, type Written } from '../kernel-state/write-report.ts';

/** Writes the rules of one family, and knows whether they are still as written. */
export class RuleWriter {
  readonly #iptables: Iptables;
  readonly #measured: Measured;
  readonly #noticed: (what: string) => void;
  /** The kernel has the match that drops need, as far as we know. */
  #takesDrops = true;
  /** What was written last. */
  #last: RuleInput | undefined;
  /** What iptables-save says of our chains when they are as written; undefined if it was not asked since. */
  #fingerprint: string | undefined;
  #present: SavedTables | undefined;
  /** The names of all chains that were there at the start. */
  #first: ReadonlySet<string> | undefined;

  constructor(iptables: Iptables, measured: Measured, noticed: (what: string) => void) {
    this.#iptables = iptables;
    this.#measured = measured;
    this.#noticed = noticed;
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

  /** Returns what was written; nothing if it is there already. */
  async write(input: RuleInput, written: Written): Promise<RuleInput | undefined> {
    const present = this.#present;
    this.#present = undefined;
    const isIntact = !present || (this.#fingerprint !== undefined && ownRules(present) === this.#fingerprint);
    if (isIntact && this.#last && sameRules(this.#last, input)) return undefined;
    const isFirst = this.#last === undefined;
    this.#last = undefined;
    this.#fingerprint = undefined;
    const taken = await this.#restore(input, present ? missingJumps(present) : []);
    this.#last = input;
    // Rules are listed otherwise than they are written, so whether they were intact shows only by writing them again.
    if (present && !isFirst) this.#fingerprint = ownRules(await this.#save());
    if (!present || this.#fingerprint !== ownRules(present)) written.add('rewrote rules');
    return taken;
  }

  /** All rules, or all but those that drop if the kernel takes the rest only: one Service must not keep all others. */
  async #restore(input: RuleInput, jumps: readonly Jump[]): Promise<RuleInput> {
    if (!this.#takesDrops || input.drops.length === 0) return this.#run({ ...input, drops: [] }, jumps);
    try {
      return await this.#run(input, jumps);
    } catch (error) {
      if (!(error instanceof IptablesError && error.isAboutRules)) throw error;
      // A table that comes before the one with the drops has its jumps by now.
      const taken = await this.#run({ ...input, drops: [] }, missingJumps(await this.#save()));
      this.#takesDrops = false;
      this.#noticed(
        `the kernel does not take rules that match what ipvs forwards, so source ranges of load balancers do not keep this node away: ${error.message}`,
      );
      return taken;
    }
  }

  async #run(input: RuleInput, jumps: readonly Jump[]): Promise<RuleInput> {
    const text = restoreText(input, jumps);
    await timed(this.#measured, text.split('\n').length - 1, () => this.#iptables.restore(text));
    return input;
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
