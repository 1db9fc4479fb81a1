import { type Iptables, parseSave, type SavedTables } from '../../../kernel/iptables/index.ts';
import { type ChainsReading, readChains, type WantedChain } from '../../iptables-read-back.ts';
import { changedRules, partialText, type RulesByPort } from '../diff.ts';
import { type ChainListing, describeDrift, listingOf } from '../drift.ts';
import { TABLES } from '../names.ts';
import type { PortalRule } from '../render.ts';
import { missingJumps } from './jumps.ts';
import { fullText } from './restore-text.ts';

/** The rules of one family, as they are in the kernel. */
export class PortalRules {
  readonly #iptables: Iptables;
  readonly #committed = new Map<string, readonly PortalRule[]>();
  /** Our chains as iptables-save listed them after the last write. */
  #listing: ChainListing | undefined;
  #mustWriteAll = true;
  #hasWritten = false;

  constructor(iptables: Iptables) {
    this.#iptables = iptables;
  }

  /** Lists chains, and compares them with what is wanted. */
  read(chains: readonly WantedChain[]): Promise<ChainsReading> {
    return readChains(this.#iptables, chains);
  }

  /** The next write writes all rules: there was none yet, or the last one failed, or another program changed rules. */
  get mustWriteAll(): boolean {
    return this.#mustWriteAll;
  }

  /** False as long as our chains can have only the rules of an earlier process. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  get committed(): RulesByPort {
    return this.#committed;
  }

  /**
   * Brings the rules of these service ports to what is wanted, and all others too if need be. Returns how many it
   * wrote.
   */
  async write(wanted: RulesByPort, iptables = this.#iptables): Promise<number> {
    const changed = changedRules(this.#committed, wanted);
    const isFull = this.#mustWriteAll;
    if (!isFull && changed.size === 0) return 0;
    const all = isFull ? [...new Map([...this.#committed, ...changed]).values()].flat() : [];
    const text = isFull
      ? fullText(all, missingJumps(await readTables(iptables)))
      : partialText(this.#committed, changed);
    this.#mustWriteAll = true;
    this.#hasWritten = true;
    this.#listing = undefined;
    await iptables.restore(text);
    this.#mustWriteAll = false;
    for (const [id, rules] of changed) {
      if (rules.length > 0) this.#committed.set(id, rules);
      else this.#committed.delete(id);
    }
    return isFull ? all.length : [...changed.values()].flat().length;
  }

  /**
   * Compares the rules with those that were written. If they differ, returns how, and the next write writes all of
   * them.
   */
  async findDrift(): Promise<string | undefined> {
    if (this.#mustWriteAll) return undefined;
    const saved = await readTables(this.#iptables);
    const drift = describeDrift(saved, this.#committed, this.#listing);
    if (drift === undefined) this.#listing = listingOf(saved);
    else this.#mustWriteAll = true;
    return drift;
  }
}

async function readTables(iptables: Iptables): Promise<SavedTables> {
  const texts: string[] = [];
  for (const table of TABLES) texts.push(await iptables.save(table));
  return parseSave(texts.join(''));
}
