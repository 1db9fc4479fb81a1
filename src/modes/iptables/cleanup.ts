import { type Iptables, quoteRule } from '../../kernel/iptables/index.ts';
import { Turns } from '../../lib/turns.ts';
import { FAMILIES, type Family } from '../../net/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import { openBackends, type ProgramOptions } from '../iptables-programs.ts';
import { JUMPS, type Table } from './fixed.ts';
import { Chain, isOwnChain, PROBE_CHAIN, TRIAL_CHAIN } from './names.ts';
import { removeChains } from './remove-chains.ts';
import { inDeletionOrder } from './stale-chains.ts';

/** What another mode has made its own meanwhile, and what leads there. */
export interface KeptRules {
  chain(table: Table, chain: string): boolean;
  /** `rule` is what stands behind the name of the chain that jumps. */
  jump(table: Table, from: string, rule: string): boolean;
}

/** Chains that lead to those of service ports. */
const LEADING: Readonly<Record<Table, readonly string[]>> = {
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
/** Chains that those of service ports lead to. Some CNI plugins jump to KUBE-MARK-MASQ; as the last it then keeps its rule. */
const LED_TO: readonly string[] = [Chain.CANARY, Chain.MARK_MASQ];

/**
 * Removes what the mode made, in both families, and in both backends unless one is named. KUBE-FIREWALL and the jumps to it
 * stay, for they are the kubelet's too; so do sysctls and counters. Where programs cannot be used there is nothing that
 * could be removed.
 */
export async function cleanupIptables(options: ProgramOptions = {}, kept?: KeptRules): Promise<Cleanup> {
  const report = new CleanupReport();
  const turns = new Turns();
  for (const family of FAMILIES) {
    const [own, other] = await openBackends(family, options, { turns });
    await cleanFamily(own, family, report, kept);
    if (other) await cleanFamily(other, family, report);
  }
  return report;
}

async function cleanFamily(iptables: Iptables, family: Family, report: CleanupReport, kept?: KeptRules): Promise<void> {
  const where = `${family}, ${iptables.backend}`;
  let present: Record<Table | 'mangle', ReadonlySet<string>>;
  try {
    present = await chainsOf(iptables);
  } catch {
    return;
  }
  for (const { table, from, to, rule } of JUMPS) {
    if (to === Chain.FIREWALL || !present[table].has(to) || kept?.jump(table, from, quoteRule(rule))) continue;
    await report.attempt(async () => {
      await iptables.deleteRule(table, from, rule);
      return undefined;
    });
  }
  for (const table of ['nat', 'filter'] as const) {
    const chains = removable(table, present[table]).filter(chain => !kept?.chain(table, chain));
    if (chains.length === 0) continue;
    const { removed, errors } = await removeChains(iptables, table, chains);
    report.errors.push(...errors);
    if (removed > 0) report.removed.push(`${removed} chains of ${table} (${where})`);
  }
  if (!present.mangle.has(Chain.CANARY)) return;
  await report.attempt(async () => {
    const wasThere = await iptables.deleteChain('mangle', Chain.CANARY);
    return wasThere ? `1 chain of mangle (${where})` : undefined;
  });
}

async function chainsOf(iptables: Iptables): Promise<Record<Table | 'mangle', ReadonlySet<string>>> {
  const uses = await iptables.chainUses();
  const names = (table: string) => new Set(uses.get(table)?.keys());
  return { nat: names('nat'), filter: names('filter'), mangle: names('mangle') };
}

/** Those that jump to others come before those. */
function removable(table: Table, present: ReadonlySet<string>): readonly string[] {
  const fixed = (chains: readonly string[]) => chains.filter(chain => present.has(chain));
  if (table === 'filter') return fixed(LEADING.filter);
  return [...fixed(LEADING.nat), ...inDeletionOrder([...present].filter(isOwnChain)), ...fixed(LED_TO)];
}
