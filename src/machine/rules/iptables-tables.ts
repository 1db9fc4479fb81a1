import {
  Iptables,
  IptablesError,
  type IptablesFamily,
  legacyTables,
  type SavedChains,
  SaveParser,
} from '../../kernel/iptables/index.ts';
import { errorText } from '../../lib/error-text.ts';
import type { PathHook, RuleFinding } from './finding.ts';
import type { HookSource, SourceContext } from './hook-sources.ts';
import { evaluateIptablesRule, type ParsedRule, parseIptablesRule } from './iptables-rule.ts';
import { looksLikeIptables, type NftTable } from './nft-tables.ts';
import type { WalkedRule, WalkedTable } from './walk.ts';

/** The tables of iptables that can drop packets, and their priorities. The table nat cannot. */
const PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['raw', -300],
  ['mangle', -150],
  ['filter', 0],
  ['security', 50],
]);
const NAT_TABLE = 'nat';
const HOOKS: ReadonlyMap<string, PathHook> = new Map([
  ['PREROUTING', 'prerouting'],
  ['INPUT', 'input'],
  ['FORWARD', 'forward'],
  ['OUTPUT', 'output'],
  ['POSTROUTING', 'postrouting'],
]);
const MAX_BYTES = 8 << 20;
/** The programs of each backend. */
const TOOLS = {
  ip: { nf_tables: 'iptables-nft', legacy: 'iptables-legacy' },
  ip6: { nf_tables: 'ip6tables-nft', legacy: 'ip6tables-legacy' },
} as const;

export interface IptablesSources {
  readonly sources: readonly HookSource[];
  /** The nf_tables table was read as a table of iptables, or cannot drop packets. */
  replaces(table: NftTable): boolean;
}

/** The names of the base chains that a table of iptables can have. Empty if iptables has no table of this name. */
export function iptablesChains(family: string, table: string): readonly string[] {
  return family !== 'inet' && (table === NAT_TABLE || PRIORITIES.has(table)) ? [...HOOKS.keys()] : [];
}

/** Whether the table has the name and the base chains of a table of iptables. */
function isIptablesTable({ family, name, baseChains }: NftTable): boolean {
  if (baseChains.length === 0 || iptablesChains(family, name).length === 0) return false;
  return baseChains.every(chain => HOOKS.get(chain.name) === chain.base.hook);
}

/**
 * The tables of both backends. The dump of nf_tables shows most matches of iptables as unknown expressions, so the
 * programs list these tables. They are asked only for tables that exist, because they create a missing table.
 */
export async function readIptables(
  family: IptablesFamily,
  tables: readonly NftTable[],
  context: SourceContext,
): Promise<IptablesSources> {
  const tools = TOOLS[family];
  const written = new Set<string>();
  for (const table of tables.filter(isIptablesTable)) {
    if (await looksLikeIptables(table, context.namespace)) written.add(table.name);
  }
  const nft = await readTables(family, tools.nf_tables, written, context);
  const legacy = new Set(legacyTables(family, context.namespace));
  const replaced = new Set(nft.map(({ table }) => table));
  if (written.has(NAT_TABLE)) replaced.add(NAT_TABLE);
  return {
    sources: [...nft, ...(await readTables(family, tools.legacy, legacy, context))],
    replaces: table => isIptablesTable(table) && replaced.has(table.name),
  };
}

async function readTables(
  family: IptablesFamily,
  tool: RuleFinding['tool'],
  tables: ReadonlySet<string>,
  context: SourceContext,
): Promise<readonly HookSource[]> {
  const wanted = [...PRIORITIES].filter(([table]) => tables.has(table));
  if (wanted.length === 0 || context.budget.isLate()) return [];
  const sources: HookSource[] = [];
  const timeoutMs = Math.max(1, context.budget.msLeft);
  const iptables = await Iptables.open(family, { program: tool, namespace: context.namespace, timeoutMs });
  for (const [table, priority] of wanted) {
    const chains = await save(iptables, table, context);
    if (chains) sources.push(...hookSources(chains, { tool, family, table, priority }));
  }
  return sources;
}

/** The chains of a table. Undefined if the program is missing or cannot list it. */
async function save(iptables: Iptables, table: string, { budget }: SourceContext): Promise<SavedChains | undefined> {
  const parser = new SaveParser();
  let bytes = 0;
  try {
    await iptables.saveInto(chunk => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES)
        throw new RangeError(`${iptables.program}-save -t ${table} printed more than ${MAX_BYTES >> 20} MiB`);
      parser.write(chunk);
    }, table);
    return parser.end().get(table);
  } catch (error) {
    if (!(error instanceof IptablesError || error instanceof RangeError)) throw error;
    budget.leaveOut(errorText(error));
    return undefined;
  }
}

function hookSources(
  chains: SavedChains,
  place: Pick<HookSource, 'tool' | 'family' | 'table' | 'priority'>,
): readonly HookSource[] {
  const rules = new WalkedIptablesTable(chains);
  const sources: HookSource[] = [];
  for (const [chain, hook] of HOOKS) {
    const saved = chains.get(chain);
    if (!saved) continue;
    const policy = saved.policy === 'DROP' ? 'drop' : 'accept';
    const policyText = `-P ${chain} ${saved.policy ?? 'ACCEPT'}`;
    sources.push({ ...place, chain, hook, policy, policyText, rules, isOwnChain });
  }
  return sources;
}

/** The kubelet drops marked packets in KUBE-FIREWALL. What other chains of Kubernetes drop is the proxy's own work. */
function isOwnChain(chain: string): boolean {
  return chain.startsWith('KUBE-') && chain !== 'KUBE-FIREWALL';
}

class WalkedIptablesTable implements WalkedTable {
  readonly #chains: SavedChains;
  readonly #parsed = new Map<string, readonly WalkedRule[]>();

  constructor(chains: SavedChains) {
    this.#chains = chains;
  }

  async rules(chain: string): Promise<readonly WalkedRule[]> {
    const known = this.#parsed.get(chain);
    if (known) return known;
    const rules = (this.#chains.get(chain)?.rules ?? []).map(({ text }) => this.#walkedRule(chain, text));
    this.#parsed.set(chain, rules);
    return rules;
  }

  #walkedRule(chain: string, text: string): WalkedRule {
    const isChain = (name: string) => this.#chains.has(name);
    let parsed: ParsedRule | undefined;
    const rule = () => {
      parsed ??= parseIptablesRule(text);
      return parsed;
    };
    return {
      effects: view => evaluateIptablesRule(rule(), view, isChain),
      text: () => `-A ${chain} ${text}`,
      get comment() {
        return rule().comment;
      },
    };
  }
}
