import { type Iptables, IptablesError, parseSave, type SavedTables } from '../../../kernel/iptables/index.ts';
import { type BatchObserver, measureBatch, type WriteSummary } from '../kernel-state/write-report.ts';
import { CHAINS, TABLES } from '../names.ts';
import { type Jump, missingJumps } from './jumps.ts';
import { type RuleInput, restoreText, sameRules } from './rule-text.ts';

/** The rules of one family that the kernel has, as far as the mode knows. */
export class RuleTable {
  readonly #iptables: Iptables;
  readonly #observe: BatchObserver;
  readonly #notice: (message: string) => void;
  /** The kernel has the match that the drop rules need, as far as the mode knows. */
  #acceptsDrops = true;
  /** The rules of the last write. */
  #written: RuleInput | undefined;
  /**
   * The mode's rules as iptables-save lists them after the last write. Undefined if the mode has not listed them since.
   */
  #fingerprint: string | undefined;
  /** The tables as the mode has just read them. */
  #present: SavedTables | undefined;
  /** The names of all chains before the first write. */
  #firstChains: ReadonlySet<string> | undefined;

  constructor(iptables: Iptables, observe: BatchObserver, notice: (message: string) => void) {
    this.#iptables = iptables;
    this.#observe = observe;
    this.#notice = notice;
  }

  get randomFully(): boolean {
    return this.#iptables.features.randomFully;
  }

  /** Reads the rules, so that the next write repairs what differs. */
  async read(): Promise<void> {
    this.#present = await this.#save();
    this.#firstChains ??= new Set([...this.#present.values()].flatMap(chains => [...chains.keys()]));
  }

  /** The rules that `read` found, until the next write. */
  get present(): SavedTables {
    return this.#present ?? new Map();
  }

  /** The rules that the kernel accepts, as far as the mode knows. */
  accepted(input: RuleInput): RuleInput {
    return this.#acceptsDrops ? input : { ...input, drops: [] };
  }

  hadChain(chain: string): boolean {
    return this.#firstChains?.has(chain) ?? false;
  }

  /** Returns the rules that it wrote; undefined if the kernel has the rules already. */
  async write(input: RuleInput, summary: WriteSummary): Promise<RuleInput | undefined> {
    const present = this.#present;
    this.#present = undefined;
    const isIntact = !present || (this.#fingerprint !== undefined && ownRules(present) === this.#fingerprint);
    if (isIntact && this.#written && sameRules(this.#written, input)) return undefined;
    const isFirst = this.#written === undefined;
    this.#written = undefined;
    this.#fingerprint = undefined;
    const accepted = await this.#restore(input, present ? missingJumps(present) : []);
    this.#written = input;
    // iptables-save lists rules in other words than the mode writes them. So only another write shows whether the rules
    // were intact.
    if (present && !isFirst) this.#fingerprint = ownRules(await this.#save());
    if (!present || this.#fingerprint !== ownRules(present)) summary.add('rewrote rules');
    return accepted;
  }

  /** Leaves out the drop rules if the kernel refuses them, because one Service must not stop all others. */
  async #restore(input: RuleInput, jumps: readonly Jump[]): Promise<RuleInput> {
    if (!this.#acceptsDrops || input.drops.length === 0) return this.#run({ ...input, drops: [] }, jumps);
    try {
      return await this.#run(input, jumps);
    } catch (error) {
      if (!(error instanceof IptablesError && error.isAboutRules)) throw error;
      // iptables-restore has committed the table before the one with the drops, so that one has its jumps by now.
      const accepted = await this.#run({ ...input, drops: [] }, missingJumps(await this.#save()));
      this.#acceptsDrops = false;
      this.#notice(
        `The kernel refuses rules that match packets of ipvs, so source ranges of load balancers do not exclude this node: ${error.message}`,
      );
      return accepted;
    }
  }

  async #run(input: RuleInput, jumps: readonly Jump[]): Promise<RuleInput> {
    const text = restoreText(input, jumps);
    await measureBatch(this.#observe, text.split('\n').length - 1, () => this.#iptables.restore(text));
    return input;
  }

  async #save(): Promise<SavedTables> {
    return parseSave(await this.#iptables.save());
  }
}

/** The mode's chains and the missing jumps, as one text. */
function ownRules(tables: SavedTables): string {
  const chains = TABLES.flatMap(table =>
    CHAINS[table].map(chain => {
      const rules = tables.get(table)?.get(chain)?.rules;
      return `${table} ${chain} ${rules ? rules.map(({ text }) => text).join('\n') : 'is missing'}`;
    }),
  );
  return [...chains, ...missingJumps(tables).map(({ table, from, to }) => `${table} ${from} ${to}`)].join('\n');
}
