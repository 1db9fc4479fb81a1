import { type ChainUses, type Iptables, quoteRule } from '../../../kernel/iptables/index.ts';
import { Chain, TRIAL_CHAIN } from '../names.ts';
import { JUMPS } from '../rules/fixed-rules.ts';
import { RestoreText } from '../rules/restore-text.ts';
import { addRemovals } from './stale-chains.ts';

/** The tables that have a canary. The mode looks for the one in mangle, where it has nothing else. */
export const CANARY_TABLES = ['mangle', 'nat', 'filter'] as const;

/** Chains of mangle that only the kubelet makes. */
const KUBELET_CHAINS = ['KUBE-KUBELET-CANARY', 'KUBE-IPTABLES-HINT'];

/**
 * Creates what is missing of the chains, the jumps to them from built-in chains, and the canaries. Leaves existing ones
 * where they are, but for a jump to KUBE-FIREWALL that the kubelet did not make: an earlier run of this mode left it,
 * and it must again come before the jumps that are inserted now. Removes what an interrupted search for refused rules
 * left. Returns the chains that nat had before.
 */
export async function ensureJumpsAndCanaries(iptables: Iptables): Promise<ReadonlySet<string>> {
  const text = new RestoreText();
  const uses = await iptables.chainUses();
  const chains = (table: string) => chainsIn(uses, table);
  const isKubeletHere = KUBELET_CHAINS.some(chain => uses.get('mangle')?.has(chain));
  const present = { filter: chains('filter'), nat: chains('nat'), mangle: chains('mangle') };
  for (const table of CANARY_TABLES) {
    if (!present[table].has(Chain.CANARY)) text.table(table).chain(Chain.CANARY);
    if (present[table].has(TRIAL_CHAIN)) addRemovals(text.table(table), [TRIAL_CHAIN]);
  }
  for (const { table, from, to, rule } of JUMPS) {
    // Nothing can jump to a chain that does not exist.
    const isThere = uses.get(table)?.has(to) && (await iptables.ruleExists(table, from, rule));
    if (!present[table].has(to)) text.table(table).chain(to);
    present[table].add(to);
    const mustMove = to === Chain.FIREWALL && !isKubeletHere && text.table(table).rules.some(isInsertionInto(from));
    if (isThere && mustMove) text.table(table).rule(`-D ${from} ${quoteRule(rule)}`);
    if (!isThere || mustMove) text.table(table).rule(`-I ${from} ${quoteRule(rule)}`);
  }
  if (!text.isEmpty) await iptables.restore(text);
  return chains('nat');
}

function isInsertionInto(chain: string): (line: string) => boolean {
  return line => line.startsWith(`-I ${chain} `);
}

export async function natChains(iptables: Iptables): Promise<ReadonlySet<string>> {
  return chainsIn(await iptables.chainUses(), 'nat');
}

function chainsIn(uses: ChainUses, table: string): Set<string> {
  return new Set(uses.get(table)?.keys());
}
