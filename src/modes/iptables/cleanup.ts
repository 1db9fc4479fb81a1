import { type ChainUses, type Iptables, quoteRule } from '../../kernel/iptables/index.ts';
import { isInterrupted } from '../../kernel/netlink/index.ts';
import { Turns } from '../../lib/turns.ts';
import { FAMILIES } from '../../net/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import type { CleanupOptions, OwnRules } from '../descriptor.ts';
import { openBackends } from '../iptables-programs.ts';
import { chainText, leftoverOf, placeText, usedChain } from '../leftover.ts';
import { removeChains } from './chains/remove-chains.ts';
import { inDeletionOrder } from './chains/stale-chains.ts';
import { Chain, isOwnChain, PROBE_CHAIN, TRIAL_CHAIN } from './names.ts';
import { JUMPS, type Table } from './rules/fixed-rules.ts';
import { RestoreText } from './rules/restore-text.ts';

/** Chains that jump to chains of service ports. */
const CALLING: Readonly<Record<Table, readonly string[]>> = {
  nat: [Chain.SERVICES, Chain.NODEPORTS, Chain.POSTROUTING, TRIAL_CHAIN],
  filter: [
    Chain.SERVICES,
    Chain.EXTERNAL_SERVICES,
    Chain.FORWARD,
    Chain.NODEPORTS,
    Chain.PROXY_FIREWALL,
    Chain.CANARY,
    TRIAL_CHAIN,
    PROBE_CHAIN,
  ],
};
/** Removed last, because other chains jump to KUBE-MARK-MASQ. It keeps its rule if a CNI plugin jumps to it too. */
const CALLED: readonly string[] = [Chain.CANARY, Chain.MARK_MASQ];

/**
 * Removes the rules of the mode, in both families and in both backends, or in the backend that the options name.
 * Sysctls and counters stay. If the programs do not work, there is nothing to remove.
 */
export async function cleanupIptables({ namespace, programs, keep }: CleanupOptions = {}): Promise<Cleanup> {
  const report = new CleanupReport();
  const turns = new Turns();
  for (const family of FAMILIES) {
    const [own, other] = await openBackends(family, { ...programs, namespace }, { turns });
    await cleanFamily(own, report, keep);
    if (other) await cleanFamily(other, report);
  }
  return report;
}

async function cleanFamily(iptables: Iptables, report: CleanupReport, keep?: OwnRules): Promise<void> {
  const where = placeText(iptables);
  let uses: ChainUses;
  try {
    uses = await iptables.chainUses();
  } catch (error) {
    if (isInterrupted(error)) report.errors.push(error);
    return;
  }
  const present = chainsOf(uses);
  for (const { table, from, to, rule } of JUMPS) {
    if (to === Chain.FIREWALL || !present[table].has(to) || keep?.jump(table, from, quoteRule(rule))) continue;
    await report.attempt(`jump from ${from} to ${to} of ${table} (${where})`, async () => {
      await iptables.deleteRule(table, from, rule);
      return undefined;
    });
  }
  for (const table of ['nat', 'filter'] as const) {
    const chains = removable(table, present[table]).filter(chain => !keep?.chain(table, chain));
    if (chains.length === 0) continue;
    const { removed, used, failure } = await removeChains(iptables, table, chains);
    report.errors.push(...used.map(chain => usedChain(iptables, table, chain)));
    if (failure !== undefined) report.errors.push(leftoverOf(`chains of ${table} (${where})`, failure));
    if (removed > 0) report.removed.push(`${removed} chains of ${table} (${where})`);
  }
  await report.attempt(`chain ${Chain.FIREWALL} of filter (${where})`, () =>
    removeFirewall(iptables, uses, where, keep),
  );
  if (!present.mangle.has(Chain.CANARY)) return;
  await report.attempt(chainText(iptables, 'mangle', Chain.CANARY), async () => {
    const wasThere = await iptables.deleteChain('mangle', Chain.CANARY);
    return wasThere ? `1 chain of mangle (${where})` : undefined;
  });
}

/**
 * Removes KUBE-FIREWALL if it has no rules, and no rules of other programs jump to it. The kubelet's chain always has a
 * rule. It is the same as ours, so a chain with a rule stays: it protects the node's own ports on 127.0.0.1 as long as
 * `route_localnet` is set, which stays too.
 */
async function removeFirewall(
  iptables: Iptables,
  uses: ChainUses,
  where: string,
  keep: OwnRules | undefined,
): Promise<string | undefined> {
  const useCount = uses.get('filter')?.get(Chain.FIREWALL);
  if (useCount === undefined || keep?.chain('filter', Chain.FIREWALL)) return undefined;
  const text = new RestoreText();
  for (const { from, to, rule } of JUMPS) {
    const isThere = to === Chain.FIREWALL && (await iptables.ruleExists('filter', from, rule));
    if (isThere) text.table('filter').rule(`-D ${from} ${quoteRule(rule)}`);
  }
  if (text.size !== useCount) return undefined;
  text.table('filter').rule(`-X ${Chain.FIREWALL}`);
  await iptables.restore(text);
  return `chain ${Chain.FIREWALL} (${where})`;
}

function chainsOf(uses: ChainUses): Record<Table | 'mangle', ReadonlySet<string>> {
  const names = (table: string) => new Set(uses.get(table)?.keys());
  return { nat: names('nat'), filter: names('filter'), mangle: names('mangle') };
}

/** A chain comes before the chains that it jumps to. */
function removable(table: Table, present: ReadonlySet<string>): readonly string[] {
  const fixed = (chains: readonly string[]) => chains.filter(chain => present.has(chain));
  if (table === 'filter') return fixed(CALLING.filter);
  return [...fixed(CALLING.nat), ...inDeletionOrder([...present].filter(isOwnChain)), ...fixed(CALLED)];
}
