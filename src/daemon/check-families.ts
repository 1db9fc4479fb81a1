import type { Node } from '../api/index.ts';
import type { Configuration } from '../config/index.ts';
import {
  checkFamilies,
  checkNodePortAddresses,
  type FamilyConfig,
  type NodeIPs,
  resolvePrimary,
} from '../model/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import { StartupError } from './startup-error.ts';

/** Whether the configuration fits the node's address families: says what is odd, throws for what cannot work. */
export function checkConfiguredFamilies(
  configuration: Configuration,
  node: Node | undefined,
  nodeIPs: NodeIPs,
  dualStack: boolean,
  log: Logger,
): void {
  const config = familyConfig(configuration, node, nodeIPs, dualStack);
  const tell = (err: string) => log.error('server', 'Kube-proxy configuration may be incomplete or incorrect', { err });
  for (const { message } of checkNodePortAddresses(config)) tell(message);
  const findings = checkFamilies(config);
  const text = findings.map(({ message }) => message).join(', ');
  if (findings.some(({ fatal }) => fatal)) throw new StartupError(`kube-proxy configuration is incorrect: ${text}`);
  if (findings.length > 0) tell(text);
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
    nodePortAddresses: resolvePrimary(configuration.nodePortAddresses ?? [], nodeIPs),
    ipvsExcludeCIDRs: configuration.ipvs.excludeCIDRs ?? [],
    healthzBindAddress: configuration.healthzBindAddress,
    metricsBindAddress: configuration.metricsBindAddress,
  };
}
