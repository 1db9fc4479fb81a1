import { isInterrupted } from '../../kernel/netlink/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import {
  type HookedChain,
  listBaseChains,
  listRulesUpTo,
  type NftablesSocket,
  type NftFamily,
  printRule,
  type Rule,
  type TableSize,
} from '../../kernel/nftables/index.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Budget } from './budget.ts';
import { evaluateNftRule } from './nft-rule.ts';
import { TableSets } from './nft-sets.ts';
import type { WalkedRule, WalkedTable } from './walk.ts';

const ATTEMPTS = 5;

export interface NftTable {
  readonly family: NftFamily;
  readonly name: string;
  readonly baseChains: readonly HookedChain[];
}

/**
 * The tables of the family that have base chains, except those in `leaveOut`. In iptables mode the tables may have a
 * hundred thousand chains, and the kernel needs most of a second to list them. If there are only tables of iptables, the
 * base chains are looked up by their names instead.
 */
export async function readNftTables(
  socket: NftablesSocket,
  family: NftFamily,
  { tables, leaveOut, knownChains }: WantedTables,
  namespace: NetworkNamespace | undefined,
): Promise<readonly NftTable[]> {
  const sizes = tables.filter(table => table.family === family && table.name !== leaveOut && !table.isDormant);
  // A list has the chains of all tables, also of those that are left out.
  if (sizes.length === 0) return [];
  const listed = tables.filter(table => table.family === family);
  const objects = listed.reduce((sum, table) => sum + table.objects, 0);
  if (objects > MANY_OBJECTS && sizes.every(({ name }) => knownChains(family, name).length > 0)) {
    return sizes.map(({ name }) => ({
      family,
      name,
      baseChains: knownChains(family, name).flatMap(chain => {
        const base = socket.lookups.chain(family, name, chain)?.base;
        return base ? [{ table: name, name: chain, base }] : [];
      }),
    }));
  }
  const chains = await retry(() => listBaseChains(family, namespace));
  return sizes.map(({ name }) => ({ family, name, baseChains: chains.filter(({ table }) => table === name) }));
}

const MANY_OBJECTS = 2000;

export interface WantedTables {
  /** All tables that exist. */
  readonly tables: readonly TableSize[];
  readonly leaveOut: string;
  readonly knownChains: ChainNames;
}

/** The names of the base chains that a table of this name usually has. Empty for other tables. */
type ChainNames = (family: NftFamily, table: string) => readonly string[];

/** How many rules to look at, to find out which program wrote a table. */
const SAMPLE = 1000;

/**
 * Whether every rule counts and none has a set, as the rules of iptables-nft do. iptables-nft-save prints rules of nft
 * too, but leaves out what it does not know.
 */
export async function looksLikeIptables(
  { family, name }: NftTable,
  namespace: NetworkNamespace | undefined,
): Promise<boolean> {
  const { items } = await retry(() => listRulesUpTo(SAMPLE, { family, table: name }, namespace));
  return items.every(({ expressions }) => {
    const kinds = new Set(expressions.map(({ kind }) => kind));
    return kinds.has('counter') && !kinds.has('lookup');
  });
}

/** The rules of an nf_tables table, each chain read when the packet first comes to it. */
export class WalkedNftTable implements WalkedTable {
  readonly #family: NftFamily;
  readonly #table: string;
  readonly #namespace: NetworkNamespace | undefined;
  readonly #budget: Budget;
  readonly #sets: TableSets;
  readonly #chains = new Map<string, readonly WalkedRule[]>();

  constructor(socket: NftablesSocket, table: NftTable, namespace: NetworkNamespace | undefined, budget: Budget) {
    this.#family = table.family;
    this.#table = table.name;
    this.#namespace = namespace;
    this.#budget = budget;
    this.#sets = new TableSets(socket, table.family, table.name, namespace);
  }

  async rules(chain: string): Promise<readonly WalkedRule[]> {
    const known = this.#chains.get(chain);
    if (known) return known;
    const rules = (await this.#read(chain)).map(rule => this.#walkedRule(rule));
    this.#chains.set(chain, rules);
    return rules;
  }

  async #read(chain: string): Promise<readonly Rule[]> {
    const place = { family: this.#family, table: this.#table, chain };
    try {
      const { items, isComplete } = await retry(() => listRulesUpTo(this.#budget.rulesLeft, place, this.#namespace));
      if (!isComplete) this.#budget.leaveOut(`chain ${chain} of table ${this.#family} ${this.#table} has more rules`);
      return items;
    } catch (error) {
      this.#budget.leaveOut(errorText(error));
      return [];
    }
  }

  #walkedRule(rule: Rule): WalkedRule {
    return {
      effects: view => evaluateNftRule(rule, view, this.#sets),
      text: () => this.#print(rule),
      comment: rule.comment,
    };
  }

  async #print(rule: Rule): Promise<string> {
    const sets = new Map<string, string | undefined>();
    for (const expression of rule.expressions) {
      if (expression.kind === 'lookup') sets.set(expression.set, await this.#sets.print(expression.set));
    }
    return printRule(this.#family, rule.expressions, name => sets.get(name));
  }
}

/** Another program may change rules while the kernel lists them. */
async function retry<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!isInterrupted(error) || attempt === ATTEMPTS) throw error;
    }
  }
}
