import { chainsOfBackend, type Iptables, otherBackend } from '../../../kernel/iptables/index.ts';
import type { ProgramOptions } from '../../iptables-programs.ts';
import { Chain, isOwnChain } from '../names.ts';

/** The kubelet has these chains too, in the backend that it uses. */
const SHARED_WITH_KUBELET: readonly string[] = [Chain.FIREWALL, Chain.POSTROUTING, Chain.MARK_MASQ];

/**
 * The notice about rules that a proxy left in the backend that this mode does not write to. Packets pass them too, and
 * they send connections to endpoints that no longer exist.
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
    `Both iptables backends have rules of a proxy: ${iptables.backend}, which this proxy writes, and ${other} ` +
    `(${ours.length} chains, for example ${first.chain} in ${first.table}). Packets pass both, and the rules of ${other} ` +
    'are out of date. Stop this proxy, run kube-proxy cleanup, which removes both, and start the proxy again'
  );
}
