import { type Iptables, IptablesError, type ListedChains, listedRule } from '../kernel/iptables/index.ts';
import { type Aligned, alignLists } from '../lib/align-lists.ts';
import { errorText } from '../lib/error-text.ts';
import type { KernelEntry } from './read-back.ts';

/** What a mode wants in one chain of iptables. */
export interface WantedChain {
  readonly table: string;
  readonly chain: string;
  /** The rules as iptables-restore reads them, without `-A CHAIN`. In a shared chain: those of one service port. */
  readonly rules: readonly string[];
  /**
   * `own`: the chain has these rules and no others. `built-in`: it has rules of other programs too. Otherwise the chain is
   * shared with other service ports, and this says whether a rule that is not wanted concerns this service port.
   */
  readonly others: 'own' | 'built-in' | ((rule: string) => boolean);
  /** Rules without one of these texts are not read. Every wanted rule must have one, as iptables-save prints it. */
  readonly texts?: readonly string[];
}

export interface ChainsReading {
  readonly entries: readonly KernelEntry[];
  readonly incomplete: string | undefined;
}

/** The longest time that the programs may take together. */
const MAX_MS = 10_000;

/** Lists chains with the iptables programs, and compares them with what is wanted. Takes no turn of the programs. */
export async function readChains(
  iptables: Iptables,
  chains: readonly WantedChain[],
  maxMs = MAX_MS,
): Promise<ChainsReading> {
  const texts = new Map(chains.map(chain => [`${chain.table} ${chain.chain}`, chain.texts]));
  let listed: ListedChains;
  try {
    listed = await iptables.listChains(
      chains,
      ({ table, chain }, rule) => texts.get(`${table} ${chain}`)?.some(text => rule.includes(text)) ?? true,
      maxMs,
    );
  } catch (error) {
    if (!(error instanceof IptablesError)) throw error;
    return { entries: [], incomplete: `the mode could not list the iptables rules: ${errorText(error)}` };
  }
  const entries = new Entries(iptables, listed);
  for (const chain of chains) entries.compare(chain);
  const incomplete = listed.isCut ? 'the chains have more rules than the mode reads' : undefined;
  return { entries: entries.list, incomplete };
}

class Entries {
  readonly list: KernelEntry[] = [];
  readonly #iptables: Iptables;
  readonly #listed: ListedChains;
  readonly #missingTables = new Set<string>();

  constructor(iptables: Iptables, listed: ListedChains) {
    this.#iptables = iptables;
    this.#listed = listed;
  }

  compare(wanted: WantedChain): void {
    const { table, chain, others } = wanted;
    const chains = this.#listed.listing.get(table);
    if (!chains) {
      this.#missingTable(table);
      return;
    }
    const rules = chains.get(chain) ?? (others === 'built-in' ? [] : undefined);
    if (others !== 'built-in') {
      const name = `-N ${chain}`;
      this.list.push({ kind: 'chain', place: `table ${table}`, wanted: name, found: rules && name });
    }
    // The rules of a missing chain are missing with it.
    if (rules) this.#rules(wanted, rules);
  }

  /** The chains of a missing table are missing with it. */
  #missingTable(table: string): void {
    if (this.#missingTables.has(table)) return;
    this.#missingTables.add(table);
    const place = this.#iptables.program;
    this.list.push({ kind: 'table', place, wanted: `table ${table}`, found: undefined });
  }

  #rules({ table, chain, rules, others }: WantedChain, found: readonly string[]): void {
    const { family } = this.#iptables;
    const wanted = rules.map(rule => listedRule(family, rule));
    const isWanted = new Set(wanted);
    const concerning = found
      .map(text => ({ text, form: listedRule(family, text) }))
      .filter(({ text, form }) => isWanted.has(form) || (others !== 'built-in' && (others === 'own' || others(text))));
    const texts = new Map(concerning.map(({ text, form }) => [form, text]));
    const forms = concerning.map(({ form }) => form);
    const place = `chain ${table} ${chain}`;
    const line = (form: string | undefined) => form && `-A ${chain} ${texts.get(form) ?? form}`;
    for (const { left, right } of others === 'built-in' ? lookUp(wanted, forms) : alignLists(wanted, forms)) {
      this.list.push({ kind: 'rule', place, wanted: line(left), found: line(right) });
    }
  }
}

/** In a built-in chain the order does not matter, because other programs insert their rules anywhere. */
function lookUp(wanted: readonly string[], found: readonly string[]): Aligned[] {
  return wanted.map(rule => ({ left: rule, right: found.includes(rule) ? rule : undefined }));
}
