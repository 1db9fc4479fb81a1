import type { Iptables, SavedTables } from '../../../kernel/iptables/index.ts';
import { parseSave, quoteRule, splitRule } from '../../../kernel/iptables/index.ts';
import { CHAINS, type ChainName, JUMPS, type Jump, TABLES, type TableName } from '../names.ts';
import type { PortalRule } from '../render.ts';

/** What was written, in rules. */
export interface Written {
  readonly rules: Readonly<Record<TableName, number>>;
}

const NO_RULES: readonly PortalRule[] = [];

/** The rules of one family: what is committed for each service port, and how it is changed. */
export class PortalRules {
  readonly #iptables: Iptables;
  readonly #committed = new Map<string, readonly PortalRule[]>();
  /** Our chains as iptables-save lists them, if nothing was written since. */
  #listed: ReadonlyMap<string, string> | undefined;
  #unsure = true;
  #isTouched = false;

  constructor(iptables: Iptables) {
    this.#iptables = iptables;
  }

  /** Nothing was written yet, or a write failed, or others changed what is ours: all is written anew. */
  get isUnsure(): boolean {
    return this.#unsure;
  }

  /** What is in our chains may be ours. Before, it is what a former process left. */
  get isTouched(): boolean {
    return this.#isTouched;
  }

  /** The service ports that have rules. */
  get ids(): Iterable<string> {
    return this.#committed.keys();
  }

  rulesOf(id: string): readonly PortalRule[] {
    return this.#committed.get(id) ?? NO_RULES;
  }

  /** How many rules there are. */
  total(table: TableName): number {
    let total = 0;
    for (const rules of this.#committed.values()) total += ofTable(rules, table).length;
    return total;
  }

  /** Brings the rules of these service ports to what is given, or all rules if that is not sure. */
  async write(changes: ReadonlyMap<string, readonly PortalRule[]>, iptables = this.#iptables): Promise<Written> {
    const changed = new Map([...changes].filter(([id, rules]) => !sameRules(this.rulesOf(id), rules)));
    if (!this.#unsure && changed.size === 0) return { rules: { filter: 0, nat: 0 } };
    const texts = this.#unsure ? await this.#whole(changed, iptables) : this.#part(changed);
    const wasUnsure = this.#unsure;
    this.#unsure = true;
    this.#isTouched = true;
    this.#listed = undefined;
    await iptables.restore(texts.join(''));
    this.#unsure = false;
    for (const [id, rules] of changed) {
      if (rules.length > 0) this.#committed.set(id, rules);
      else this.#committed.delete(id);
    }
    const count = (table: TableName) => {
      if (wasUnsure) return this.total(table);
      let sum = 0;
      for (const rules of changed.values()) sum += ofTable(rules, table).length;
      return sum;
    };
    return { rules: { filter: count('filter'), nat: count('nat') } };
  }

  /**
   * Looks whether the rules are still as they were written. Says what is wrong; all is written anew then by the next write.
   * The first look after a write counts rules only, for every version lists them in its own words.
   */
  async findDrift(): Promise<string | undefined> {
    if (this.#unsure) return undefined;
    const saved = await readTables(this.#iptables);
    const missing = JUMPS.find(jump => !hasJump(saved, jump));
    const listed = listChains(saved);
    const before = this.#listed;
    const wrong = missing
      ? `the jump from ${missing.from} to ${missing.to} is missing`
      : before
        ? chainThatDiffers(before, listed)
        : this.#miscounted(saved);
    if (wrong !== undefined) this.#unsure = true;
    else this.#listed = listed;
    return wrong;
  }

  async #whole(changed: ReadonlyMap<string, readonly PortalRule[]>, iptables: Iptables): Promise<readonly string[]> {
    const saved = await readTables(iptables);
    const all = new Map([...this.#committed, ...changed]);
    return TABLES.map(table => {
      const jumps = JUMPS.filter(jump => jump.table === table && !hasJump(saved, jump)).map(jumpLine);
      const rules = [...all.values()].flatMap(list => ofTable(list, table)).map(rule => line('-A', rule));
      return tableText(table, [...CHAINS[table].map(chain => `:${chain} - [0:0]`), ...jumps, ...rules]);
    });
  }

  /** The rules of a service port are in order, so if one of them changes all of them are added again. */
  #part(changed: ReadonlyMap<string, readonly PortalRule[]>): readonly string[] {
    return TABLES.map(table => {
      const lines: string[] = [];
      for (const [id, rules] of changed) {
        const before = ofTable(this.rulesOf(id), table);
        const after = ofTable(rules, table);
        if (sameRules(before, after)) continue;
        for (const rule of before) lines.push(line('-D', rule));
        for (const rule of after) lines.push(line('-A', rule));
      }
      return lines.length === 0 ? '' : tableText(table, lines);
    });
  }

  #miscounted(saved: SavedTables): string | undefined {
    const counts = new Map<string, number>();
    for (const rules of this.#committed.values()) {
      for (const { chain } of rules) counts.set(chain, (counts.get(chain) ?? 0) + 1);
    }
    for (const table of TABLES) {
      for (const chain of CHAINS[table]) {
        const found = saved.get(table)?.get(chain)?.rules.length;
        const wanted = counts.get(chain) ?? 0;
        if (found !== wanted) return `chain ${chain} has ${found ?? 'no'} rules instead of ${wanted}`;
      }
    }
    return undefined;
  }
}

async function readTables(iptables: Iptables): Promise<SavedTables> {
  const texts: string[] = [];
  for (const table of TABLES) texts.push(await iptables.save(table));
  return parseSave(texts.join(''));
}

function tableText(table: TableName, lines: readonly string[]): string {
  return `*${table}\n${lines.join('\n')}\nCOMMIT\n`;
}

function line(verb: '-A' | '-D', { chain, text }: PortalRule): string {
  return `${verb} ${chain} ${text}`;
}

export function jumpWords({ match, to }: Jump): readonly string[] {
  return [...match, '-j', to];
}

function jumpLine(jump: Jump): string {
  return `${jump.position === 'append' ? '-A' : '-I'} ${jump.from} ${quoteRule(jumpWords(jump))}`;
}

/** Whatever else it matches: one that is there is not moved. */
function hasJump(saved: SavedTables, { table, from, to }: Jump): boolean {
  const rules = saved.get(table)?.get(from)?.rules ?? [];
  return rules.some(({ text }) => splitRule(text).at(-1) === to);
}

function listChains(saved: SavedTables): ReadonlyMap<string, string> {
  return new Map(
    TABLES.flatMap(table =>
      CHAINS[table].map(chain => {
        const rules = saved.get(table)?.get(chain)?.rules;
        return [chain, rules?.map(({ text }) => text).join('\n') ?? 'no chain'] as const;
      }),
    ),
  );
}

function chainThatDiffers(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string | undefined {
  for (const [chain, text] of a) if (b.get(chain) !== text) return `chain ${chain} was changed`;
  return undefined;
}

function ofTable(rules: readonly PortalRule[], table: TableName): readonly PortalRule[] {
  const chains: readonly ChainName[] = CHAINS[table];
  return rules.filter(({ chain }) => chains.includes(chain));
}

export function sameRules(a: readonly PortalRule[], b: readonly PortalRule[]): boolean {
  return a.length === b.length && a.every(({ chain, text }, i) => chain === b[i]?.chain && text === b[i]?.text);
}
