import { chainsOfBackend, type Iptables, otherBackend } from '../../kernel/iptables/index.ts';
import type { ProgramOptions } from '../iptables-programs.ts';
import { Chain, isOwnChain } from './names.ts';

/** The kubelet has these too, in the backend that it found. */
const SHARED_WITH_KUBELET: readonly string[] = [Chain.FIREWALL, Chain.POSTROUTING, Chain.MARK_MASQ];

/**
 * What an operator should know of rules that a proxy left in the backend which we do not write to. Packets meet them too,
 * and they send connections to endpoints that are long gone.
 */
export async function otherBackendNotice(
  iptables: Iptables,
  { namespace, env, timeoutMs, lockFile }: ProgramOptions,
): Promise<string | undefined> {
  const other = otherBackend(iptables.backend);
  const found = await chainsOfBackend(iptables.family, other, 'KUBE-', { namespace, env, timeoutMs, lockFile });
  const known = new Set<string>(Object.values(Chain).filter(chain => !SHARED_WITH_KUBELET.includes(chain)));
  const ours = found.filter(({ chain }) => known.has(chain) || isOwnChain(chain));
  const [first] = ours;
  if (!first) return undefined;
  return (
    `both iptables backends hold rules of a proxy: ${iptables.backend}, which is written to, and ${other} ` +
    `(${ours.length} chains, ${first.chain} in ${first.table} for one). Packets meet both, and those of ${other} are ` +
    'out of date. End this proxy, run kube-proxy cleanup, which removes both, and start it again'
  );
}
