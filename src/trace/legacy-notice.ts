import {
  Iptables,
  IptablesError,
  type IptablesFamily,
  legacyTables,
  programOfBackend,
} from '../kernel/iptables/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';

const FAMILIES: readonly IptablesFamily[] = ['ip', 'ip6'];

/** What the operator must know if iptables-legacy has rules here. Undefined if it has none. */
export async function legacyNotice(namespace?: NetworkNamespace): Promise<string | undefined> {
  const found: string[] = [];
  for (const family of FAMILIES) {
    const tables = legacyTables(family, namespace);
    if (tables.length > 0 && (await hasRules(family, namespace))) {
      found.push(`${programOfBackend(family, 'legacy')}: ${tables.join(', ')}`);
    }
  }
  if (found.length === 0) return undefined;
  return `This node has tables of iptables-legacy (${found.join('; ')}). The kernel cannot trace their rules.
The trace below shows what they change in a packet, but it does not name their rules. A packet that they drop
looks lost. To see these rules at work, add a rule with the target TRACE and read the kernel's log:
  iptables-legacy -t raw -I PREROUTING -d IP -p tcp --dport PORT -j TRACE
  journalctl -k -f
  iptables-legacy -t raw -D PREROUTING -d IP -p tcp --dport PORT -j TRACE
Or let the proxy use iptables-nft, or nftables mode.`;
}

/** Tables stay in the kernel without rules. If the program is missing, this assumes rules. */
async function hasRules(family: IptablesFamily, namespace: NetworkNamespace | undefined): Promise<boolean> {
  try {
    const program = programOfBackend(family, 'legacy');
    const iptables = await Iptables.open(family, { program, timeoutMs: 5000, namespace });
    return /^-A /m.test(await iptables.save());
  } catch (error) {
    if (error instanceof IptablesError) return true;
    throw error;
  }
}
