import { type ChainUses, type Iptables, quoteRule } from '../../kernel/iptables/index.ts';
import { JUMPS } from './fixed.ts';
import { Chain, TRIAL_CHAIN } from './names.ts';
import { RestoreText } from './restore-text.ts';
import { addRemovals } from './stale-chains.ts';

/** Where there is a canary: the one in mangle, where we have nothing else, is looked for. */
export const CANARY_TABLES = ['mangle', 'nat', 'filter'] as const;

/**
 * Makes what leads to our chains where it is missing: the chains themselves, the jumps to them from the built-in ones, and
 * the canaries. What is there stays where it is; what a search that was broken off left goes. Returns the chains that nat had before.
 */
export async function ensureFrame(iptables: Iptables): Promise<ReadonlySet<string>> {
  const text = new RestoreText();
  const uses = await iptables.chainUses();
  const chains = (table: string) => chainsIn(uses, table);
  const present = { filter: chains('filter'), nat: chains('nat'), mangle: chains('mangle') };
  for (const table of CANARY_TABLES) {
    if (!present[table].has(Chain.CANARY)) text.table(table).chain(Chain.CANARY);
    if (present[table].has(TRIAL_CHAIN)) addRemovals(text.table(table), [TRIAL_CHAIN]);
  }
  for (const { table, from, to, rule } of JUMPS) {
    // What leads to a chain that was not there need not be looked for.
    const isThere = uses.get(table)?.has(to) && (await iptables.ruleExists(table, from, rule));
    if (!present[table].has(to)) text.table(table).chain(to);
    present[table].add(to);
    if (!isThere) text.table(table).rule(`-I ${from} ${quoteRule(rule)}`);
  }
  if (!text.isEmpty) await iptables.restore(text);
  return chains('nat');
}

export async function natChains(iptables: Iptables): Promise<ReadonlySet<string>> {
  return chainsIn(await iptables.chainUses(), 'nat');
}

function chainsIn(uses: ChainUses, table: string): Set<string> {
  return new Set(uses.get(table)?.keys());
}
