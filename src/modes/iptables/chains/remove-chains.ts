import { type Iptables, IptablesError } from '../../../kernel/iptables/index.ts';
import { CHAINS_PER_RESTORE } from '../render.ts';
import type { Table } from '../rules/fixed-rules.ts';
import { RestoreText } from '../rules/restore-text.ts';

export interface Removal {
  /** How many chains were removed. */
  readonly removed: number;
  /** Why the others could not be removed. */
  readonly errors: readonly unknown[];
  /** The chains that stay because a rule of another program jumps to them. */
  readonly used: readonly string[];
  /** The error that ended the removal early, if one did. It is one of `errors`. */
  readonly failure?: unknown;
}

/** After this many refusals the removal gives up. */
const MAX_REFUSALS = 50;

/**
 * Removes chains in the given order, in which a chain comes before the chains that it jumps to. A chain that another
 * program jumps to stays. It loses its rules if chains behind it are removed, because its rules may jump to those.
 */
export async function removeChains(iptables: Iptables, table: Table, chains: readonly string[]): Promise<Removal> {
  const work = new RemovalWork(iptables, table);
  const chainsPerRestore = iptables.backend === 'nf_tables' ? CHAINS_PER_RESTORE : chains.length;
  try {
    for (let first = 0; first < chains.length; first += chainsPerRestore) {
      const next = first + chainsPerRestore;
      await work.remove(chains.slice(first, next), next >= chains.length);
    }
  } catch (error) {
    work.errors.push(error);
    work.failure = error;
  }
  return work;
}

class RemovalWork implements Removal {
  removed = 0;
  readonly errors: unknown[] = [];
  failure: unknown;
  readonly #iptables: Iptables;
  readonly #table: Table;
  readonly #used = new Set<string>();
  #refusals = 0;

  get used(): readonly string[] {
    return [...this.#used];
  }

  constructor(iptables: Iptables, table: Table) {
    this.#iptables = iptables;
    this.#table = table;
  }

  /** A restore does all or nothing, so it is repeated without the chains that were refused. */
  async remove(chains: readonly string[], areLast: boolean): Promise<void> {
    for (;;) {
      const text = this.#text(chains, areLast);
      if (text.isEmpty) return;
      const unused = chains.filter(chain => !this.#used.has(chain));
      try {
        await this.#iptables.restore(text, { table: this.#table });
        this.removed += unused.length;
        return;
      } catch (error) {
        const refused = this.#refusedChains(error, unused);
        if (refused.length === 0) break;
        for (const chain of refused) this.#used.add(chain);
      }
    }
    const middle = chains.length >> 1;
    await this.remove(chains.slice(0, middle), false);
    await this.remove(chains.slice(middle), areLast);
  }

  /** A chain must be empty to be removed. Its declaration empties it. */
  #text(chains: readonly string[], areLast: boolean): RestoreText {
    const text = new RestoreText();
    const table = text.table(this.#table);
    const isUnused = (chain: string) => !this.#used.has(chain);
    table.addChains(areLast ? chains.slice(0, chains.findLastIndex(isUnused) + 1) : chains);
    for (const chain of chains.filter(isUnused)) table.rule(`-X ${chain}`);
    return text;
  }

  /** The chains that the error names; none if it names none, so that the caller must halve. */
  #refusedChains(error: unknown, unused: readonly string[]): readonly string[] {
    const isRefusal = error instanceof IptablesError && error.isAboutRules;
    if (!isRefusal || unused.length === 0 || ++this.#refusals > MAX_REFUSALS) throw error;
    const lines = new Set(error.lines.map(({ text }) => text));
    const named = unused.length === 1 ? unused : unused.filter(chain => lines.has(`-X ${chain}`));
    if (named.length > 0) this.errors.push(error);
    return named;
  }
}
