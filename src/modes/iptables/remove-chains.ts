import { type Iptables, IptablesError } from '../../kernel/iptables/index.ts';
import type { Table } from './fixed.ts';
import { CHAINS_A_PART } from './full-text.ts';
import { RestoreText } from './restore-text.ts';

export interface Removal {
  /** How many chains went. */
  readonly removed: number;
  /** Why the others stay. */
  readonly errors: readonly unknown[];
}

/** What is refused more often than this is not tried again. */
const MOST_REFUSALS = 50;

/**
 * Removes chains, in the order given: those that jump to others come before those. Chains that someone else jumps to stay,
 * and only these. They lose their rules if there are chains behind them in the order, which their rules may jump to.
 */
export async function removeChains(iptables: Iptables, table: Table, chains: readonly string[]): Promise<Removal> {
  const work = new RemovalWork(iptables, table);
  const chainsAPart = iptables.backend === 'nf_tables' ? CHAINS_A_PART : chains.length;
  try {
    for (let first = 0; first < chains.length; first += chainsAPart) {
      const next = first + chainsAPart;
      await work.remove(chains.slice(first, next), next >= chains.length);
    }
  } catch (error) {
    work.errors.push(error);
  }
  return work;
}

class RemovalWork implements Removal {
  removed = 0;
  readonly errors: unknown[] = [];
  readonly #iptables: Iptables;
  readonly #table: Table;
  readonly #used = new Set<string>();
  #refusals = 0;

  constructor(iptables: Iptables, table: Table) {
    this.#iptables = iptables;
    this.#table = table;
  }

  /** A restore does all or nothing, so it is repeated without what it was refused for. */
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
        const guilty = this.#guilty(error, unused);
        if (guilty.length === 0) break;
        for (const chain of guilty) this.#used.add(chain);
      }
    }
    const middle = chains.length >> 1;
    await this.remove(chains.slice(0, middle), false);
    await this.remove(chains.slice(middle), areLast);
  }

  /** A chain must be empty to be removed, which its declaration makes it. */
  #text(chains: readonly string[], areLast: boolean): RestoreText {
    const text = new RestoreText();
    const table = text.table(this.#table);
    const isUnused = (chain: string) => !this.#used.has(chain);
    table.addChains(areLast ? chains.slice(0, chains.findLastIndex(isUnused) + 1) : chains);
    for (const chain of chains.filter(isUnused)) table.rule(`-X ${chain}`);
    return text;
  }

  /** The chains because of which it was refused; none if that is not known, so that a part of them must be tried. */
  #guilty(error: unknown, unused: readonly string[]): readonly string[] {
    const isRefusal = error instanceof IptablesError && error.isAboutRules;
    if (!isRefusal || unused.length === 0 || ++this.#refusals > MOST_REFUSALS) throw error;
    const lines = new Set(error.lines.map(({ text }) => text));
    const named = unused.length === 1 ? unused : unused.filter(chain => lines.has(`-X ${chain}`));
    if (named.length > 0) this.errors.push(error);
    return named;
  }
}
