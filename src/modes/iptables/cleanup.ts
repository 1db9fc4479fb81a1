import { type ChainUses, type Iptables, quoteRule } from '../../kernel/iptables/index.ts';
import { Turns } from '../../lib/turns.ts';
import { FAMILIES, type Family } from '../../net/index.ts';
import { type Cleanup, CleanupReport } from '../cleanup-report.ts';
import type { CleanupOptions, OwnRules } from '../descriptor.ts';
import { openBackends, throwIfNotPermitted } from '../iptables-programs.ts';
import { removeChains } from './chains/remove-chains.ts';
import { inDeletionOrder } from './chains/stale-chains.ts';
import { Chain, isOwnChain, PROBE_CHAIN, TRIAL_CHAIN } from './names.ts';
import { JUMPS, type Table } from './rules/fixed-rules.ts';

type PresentChains = Readonly<Record<Table | 'mangle', ReadonlySet<string>>>;

const NO_CHAINS: PresentChains = { nat: new Set(), filter: new Set(), mangle: new Set() };

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
 * KUBE-FIREWALL and the jumps to it stay, because the kubelet uses them too. Sysctls and counters also stay. If the
 * programs do not work, there is nothing to remove.
 */
export async function cleanupIptables({ namespace, programs, keep }: CleanupOptions = {}): Promise<Cleanup> {
  const report = new CleanupReport();
  const turns = new Turns();
  for (const family of FAMILIES) {
    const [own, other] = await openBackends(family, { ...programs, namespace }, { turns });
    await cleanFamily(own, family, report, keep);
    if (other) await cleanFamily(other, family, report);
  }
  return report;
}

async function cleanFamily(iptables: Iptables, family: Family, report: CleanupReport, keep?: OwnRules): Promise<void> {
  const where = `${family}, ${iptables.backend}`;
  let present: PresentChains = NO_CHAINS;
  await report.attempt(async () => {
    present = await chainsOf(iptables);
    return undefined;
  });
  for (const { table, from, to, rule } of JUMPS) {
    if (to === Chain.FIREWALL || !present[table].has(to) || keep?.jump(table, from, quoteRule(rule))) continue;
    await report.attempt(async () => {
      await iptables.deleteRule(table, from, rule);
      return undefined;
    });
  }
  for (const table of ['nat', 'filter'] as const) {
    const chains = removable(table, present[table]).filter(chain => !keep?.chain(table, chain));
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

async function chainsOf(iptables: Iptables): Promise<PresentChains> {
  const uses: ChainUses = await iptables.chainUses().catch(error => {
    throwIfNotPermitted(error);
    return new Map();
  });
  const names = (table: string) => new Set(uses.get(table)?.keys());
  return { nat: names('nat'), filter: names('filter'), mangle: names('mangle') };
}

/** A chain comes before the chains that it jumps to. */
function removable(table: Table, present: ReadonlySet<string>): readonly string[] {
  const fixed = (chains: readonly string[]) => chains.filter(chain => present.has(chain));
  if (table === 'filter') return fixed(CALLING.filter);
  return [...fixed(CALLING.nat), ...inDeletionOrder([...present].filter(isOwnChain)), ...fixed(CALLED)];
}
