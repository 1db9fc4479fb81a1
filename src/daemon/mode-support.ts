import type { Configuration } from '../config/index.ts';
import { errorText } from '../lib/error-text.ts';
import { type NodeIPs, parseNodePortAddresses, resolvePrimary } from '../model/index.ts';
import {
  hasLocalhostNodePorts,
  type IptablesSupport,
  iptablesSupport,
  ROUTE_LOCALNET_NOTICE,
  routeLocalnet,
} from '../modes/iptables/index.ts';
import { FAMILIES, type Family } from '../net/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import type { ProxyMode } from '../proxy/index.ts';
import { checkNftables } from './nftables.ts';
import { StartupError } from './startup-error.ts';

/** The mode that the configuration means. */
export function proxyMode({ mode }: Configuration): ProxyMode {
  return mode === 'iptables' || mode === 'ipvs' || mode === 'userspace' ? mode : 'nftables';
}

/** The families that the mode can serve on this machine. */
export async function offeredFamilies(
  mode: ProxyMode,
  log: Logger,
  support: () => Promise<IptablesSupport> = iptablesSupport,
): Promise<readonly Family[]> {
  if (mode === 'nftables') {
    checkNftables();
    return FAMILIES;
  }
  const { families, unavailable } = await support();
  const reasons = FAMILIES.flatMap(family => unavailable[family] ?? []).map(errorText);
  if (families.length === 0) throw new StartupError(`iptables is not available on this host : ${reasons.join(', ')}`);
  for (const family of FAMILIES) {
    const err = unavailable[family];
    if (err) log.info('server', 'No iptables support for family', { ipFamily: family, err: errorText(err) });
  }
  return families;
}

/** What the mode needs of the kernel before it runs, so that `--init-only` can do it for a proxy that may not. */
export function prepareMode(
  mode: ProxyMode,
  configuration: Configuration,
  nodeIPs: NodeIPs,
  families: readonly Family[],
  log: Logger,
): void {
  log.info('server', `Using ${mode} Proxier`);
  if (mode !== 'iptables' || !families.includes('IPv4')) return;
  const addresses = parseNodePortAddresses('IPv4', resolvePrimary(configuration.nodePortAddresses ?? [], nodeIPs));
  if (!hasLocalhostNodePorts('IPv4', configuration.iptables.localhostNodePorts ?? true, addresses)) return;
  log.info(mode, ROUTE_LOCALNET_NOTICE, { ipFamily: 'IPv4' });
  try {
    routeLocalnet();
  } catch (error) {
    const family = families.length > 1 ? 'unable to create ipv4 proxier: ' : '';
    throw new StartupError(`unable to create proxier: ${family}${errorText(error)}`);
  }
}
