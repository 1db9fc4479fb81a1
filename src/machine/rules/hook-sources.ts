import { KernelError } from '../../kernel/errors.ts';
import type { IptablesFamily } from '../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { type HookedChain, listTableSizes, type NftablesSocket, type TableSize } from '../../kernel/nftables/index.ts';
import { errorText } from '../../lib/error-text.ts';
import type { Family } from '../../net/index.ts';
import type { Budget } from './budget.ts';
import type { PathHook, RuleFinding } from './finding.ts';
import { iptablesChains, readIptables } from './iptables-tables.ts';
import { type NftTable, readNftTables, WalkedNftTable } from './nft-tables.ts';
import type { WalkedTable } from './walk.ts';

/** A base chain of another program: the packet enters it at a hook. */
export interface HookSource extends Pick<RuleFinding, 'tool' | 'family' | 'table' | 'chain' | 'hook' | 'priority'> {
  readonly policy: 'accept' | 'drop';
  readonly policyText: string;
  readonly rules: WalkedTable;
  /** The proxy wrote the chain, so that its drops are part of what the proxy does. */
  isOwnChain(chain: string): boolean;
}

export interface SourceContext {
  readonly socket: NftablesSocket;
  readonly namespace: NetworkNamespace | undefined;
  readonly budget: Budget;
}

/** The table of nftables mode. */
const OWN_TABLE = 'kube-proxy';
/** The table that answers packets of ended connections, in every mode. New connections do not match its rule. */
const ENDED_TABLE = 'kube-proxy-ended';
/** Also the family arp, which does not see packets of connections. */
const DECODED: ReadonlySet<string> = new Set(['ip', 'ip6', 'inet', 'arp']);
const HOOKS: ReadonlySet<string> = new Set(['prerouting', 'input', 'forward', 'output', 'postrouting']);

export interface ReadSources {
  readonly sources: readonly HookSource[];
  /** Tables that are not evaluated: of other families, or with base chains that see packets of single interfaces. */
  readonly unread: readonly string[];
}

/** All base chains that a packet of the family can enter, except those of the proxy itself. */
export async function readSources(family: Family, context: SourceContext): Promise<ReadSources> {
  const own: IptablesFamily = family === 'IPv4' ? 'ip' : 'ip6';
  const all = (await listNftTables(context)).filter(({ name }) => name !== ENDED_TABLE);
  const wanted = { tables: all, leaveOut: OWN_TABLE, knownChains: iptablesChains };
  const tables = [
    ...(await readNftTables(context.socket, own, wanted, context.namespace)),
    ...(await readNftTables(context.socket, 'inet', wanted, context.namespace)),
  ];
  const read = await readIptables(own, tables, context);
  const others = tables.filter(table => !read.replaces(table));
  const ingress = others.filter(({ baseChains }) => baseChains.some(({ base }) => base.hook === 'ingress'));
  const undecoded = all.filter(table => !DECODED.has(table.family));
  return {
    sources: [...others.flatMap(table => nftSources(table, context)), ...read.sources],
    unread: [...ingress, ...undecoded].map(table => `${table.family} ${table.name}`),
  };
}

/** A kernel without nf_tables refuses the request. It may still have tables of iptables-legacy. */
async function listNftTables({ namespace, budget }: SourceContext): Promise<readonly TableSize[]> {
  try {
    return await listTableSizes(namespace);
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    budget.leaveOut(`the kernel did not list the tables of nft: ${errorText(error)}`);
    return [];
  }
}

function nftSources(table: NftTable, { socket, namespace, budget }: SourceContext): readonly HookSource[] {
  const rules = new WalkedNftTable(socket, table, namespace, budget);
  return table.baseChains.filter(isOnTheWay).map(({ name, base }) => ({
    tool: 'nft',
    family: table.family,
    table: table.name,
    chain: name,
    hook: base.hook,
    priority: base.priority,
    policy: base.policy ?? 'accept',
    policyText: `policy ${base.policy ?? 'accept'}`,
    rules,
    isOwnChain: () => false,
  }));
}

function isOnTheWay(chain: HookedChain): chain is HookedChain & { readonly base: { readonly hook: PathHook } } {
  return HOOKS.has(chain.base.hook);
}
