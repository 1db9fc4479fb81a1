import { type Iptables, parseSave, type SavedChains } from '../../../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../../../kernel/netns.ts';
import type { Family } from '../../../net/index.ts';
import type { CleanupReport } from '../../cleanup-report.ts';
import { openBackends } from '../../iptables-programs.ts';
import { CHAINS, JUMPS, jumpRule, TABLES, type Table } from './rule-text.ts';

export interface CleanupOptions {
  readonly namespace?: NetworkNamespace | undefined;
  /** Leaves chains that iptables mode has too, and the jumps to them, for they are its own by now. */
  readonly keepSharedChains?: boolean;
}

/** Chains that no other mode has. Without any of them there are no rules of ours. */
const ONLY_OURS: readonly string[] = [
  'KUBE-NODE-PORT',
  'KUBE-LOAD-BALANCER',
  'KUBE-SOURCE-RANGES-FIREWALL',
  'KUBE-IPVS-FILTER',
  'KUBE-IPVS-OUT-FILTER',
];
/** A jump to a shared chain that iptables mode words otherwise. */
const OWN_COMMENT = 'kube-proxy firewall rules';

/** Removes them in both backends: a proxy that ran before may have found another one than we do. */
export async function removeRules(
  family: Family,
  { namespace, keepSharedChains = false }: CleanupOptions,
  report: CleanupReport,
): Promise<void> {
  const [own, other] = await openBackends(family, { namespace });
  await report.attempt(() => removeRulesOf(own, family, keepSharedChains));
  // A mode that shares chains with this one writes to the first backend only.
  if (other) await report.attempt(() => removeRulesOf(other, family, false));
}

async function removeRulesOf(
  iptables: Iptables,
  family: Family,
  keepSharedChains: boolean,
): Promise<string | undefined> {
  const tables = parseSave(await iptables.save().catch(() => ''));
  if (!TABLES.some(table => ONLY_OURS.some(chain => tables.get(table)?.has(chain)))) return undefined;
  const removed = TABLES.map(table => removal(table, tables.get(table) ?? new Map(), keepSharedChains));
  await iptables.restore(removed.map(({ text }) => text).join(''));
  return `${removed.reduce((sum, { chains }) => sum + chains, 0)} ${family} chains`;
}

/** Text that removes our chains of a table and what jumps to them. Chains that others jump to are others' too. */
function removal(
  table: Table,
  present: SavedChains,
  keepShared: boolean,
): { readonly text: string; readonly chains: number } {
  const isOurs = (chain: string) => !keepShared || ONLY_OURS.includes(chain);
  const own = CHAINS[table].filter(chain => present.has(chain) && isOurs(chain));
  const obsolete = JUMPS.filter(({ to, comment }) => isOurs(to) || comment === OWN_COMMENT);
  const jumps = obsolete
    .filter(jump => jump.table === table)
    .flatMap(jump => {
      const text = jumpRule(jump);
      const rules = present.get(jump.from)?.rules.filter(rule => rule.text === text) ?? [];
      return rules.map(() => ({ from: jump.from, text }));
    });
  const isJump = (from: string, text: string) => jumps.some(jump => jump.from === from && jump.text === text);
  const others = [...present.values()]
    .filter(({ name }) => !own.includes(name))
    .flatMap(({ name, rules }) => rules.filter(({ text }) => !isJump(name, text)))
    .map(({ text }) => ` ${text} `);
  const free = own.filter(chain => !others.some(text => text.includes(` ${chain} `)));
  const lines = [
    `*${table}`,
    ...free.map(chain => `:${chain} - [0:0]`),
    ...jumps.map(({ from, text }) => `-D ${from} ${text}`),
    ...free.map(chain => `-X ${chain}`),
    'COMMIT',
  ];
  return { text: `${lines.join('\n')}\n`, chains: free.length };
}
