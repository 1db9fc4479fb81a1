import type { Node } from '../api/index.ts';
import type { Configuration } from '../config/index.ts';
import { hasIPv6 } from '../kernel/ipv6.ts';
import { FatalError } from '../lib/fatal-error.ts';
import {
  checkFamilies,
  checkNodePortAddresses,
  type FamilyConfig,
  type NodeIPs,
  resolveNodePortKeywords,
} from '../model/index.ts';
import type { Family } from '../net/index.ts';
import type { Logger } from '../observe/logging/index.ts';

/** The families that the proxy serves. */
export interface ServedFamilies {
  /** The primary family first. */
  readonly families: readonly Family[];
  readonly dualStack: boolean;
}

/**
 * Chooses every family that the mode (`offered`) and the machine can serve. The Node's own addresses do not matter:
 * the cluster may add the other family later.
 */
export function chooseFamilies(
  primary: Family,
  offered: readonly Family[],
  log: Logger,
  ipv6Works: boolean = hasIPv6(),
): ServedFamilies {
  const families = offered.filter(family => family === 'IPv4' || ipv6Works);
  if (!families.includes(primary)) throw new FatalError(`no support for primary IP family ${JSON.stringify(primary)}`);
  const dualStack = families.length > 1;
  if (dualStack) {
    log.info('server', 'kube-proxy running in dual-stack mode', { 'primary ipFamily': primary });
    return { families: [primary, ...families.filter(family => family !== primary)], dualStack };
  }
  log.info('server', 'kube-proxy running in single-stack mode', { ipFamily: primary });
  return { families: [primary], dualStack };
}

/**
 * Logs what does not fit the node's address families. Throws if the proxy cannot work with the configuration.
 * `isNodePending`: the Node comes later, so the addresses that `primary` stands for are not known yet.
 */
export function checkConfiguredFamilies(
  configuration: Configuration,
  node: Node | undefined,
  nodeIPs: NodeIPs,
  dualStack: boolean,
  log: Logger,
  isNodePending = false,
): void {
  const config = familyConfig(configuration, node, nodeIPs, dualStack);
  const logFinding = (err: string) =>
    log.error('server', 'Kube-proxy configuration may be incomplete or incorrect', { err });
  if (!isNodePending || !configuration.nodePortAddresses?.includes('primary')) {
    for (const { message } of checkNodePortAddresses(config)) logFinding(message);
  }
  const findings = checkFamilies(config);
  const text = findings.map(({ message }) => message).join(', ');
  if (findings.some(({ fatal }) => fatal)) throw new FatalError(`kube-proxy configuration is incorrect: ${text}`);
  if (findings.length > 0) logFinding(text);
}

function familyConfig(
  configuration: Configuration,
  node: Node | undefined,
  nodeIPs: NodeIPs,
  dualStack: boolean,
): FamilyConfig {
  return {
    primary: nodeIPs.primary,
    dualStack,
    detectLocalMode: configuration.detectLocalMode,
    clusterCIDRs: configuration.detectLocal.clusterCIDRs,
    podCIDRs: node?.podCIDRs ?? [],
    nodePortAddresses: resolveNodePortKeywords(configuration.nodePortAddresses ?? [], nodeIPs),
    ipvsExcludeCIDRs: configuration.ipvs.excludeCIDRs ?? [],
    healthzBindAddress: configuration.healthzBindAddress,
    metricsBindAddress: configuration.metricsBindAddress,
  };
}
