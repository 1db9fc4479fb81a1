import type { Node } from '../../api/index.ts';
import type { Configuration } from '../../config/index.ts';
import { checkFamilies, isNodeIPKnown, rawNodeIPs } from '../../model/index.ts';
import { cidrFamily, FAMILIES, type Family, parseCidr } from '../../net/index.ts';
import type { ProxyState } from '../../proxy/index.ts';

/** What an operator would not expect from these settings on this node. */
export function settingsNotes(
  configuration: Configuration,
  nodeName: string,
  node: Node | undefined,
  state: ProxyState,
): readonly string[] {
  return [
    ...addressNotes(configuration, nodeName, node),
    ...detectorNotes(configuration, nodeName, state),
    ...clusterCidrNotes(configuration, nodeName, state),
    ...familyNotes(configuration, node, state),
  ];
}

function addressNotes({ bindAddress }: Configuration, nodeName: string, node: Node | undefined): readonly string[] {
  const isBound = bindAddress !== '' && bindAddress !== '0.0.0.0' && bindAddress !== '::';
  if (isBound || rawNodeIPs(node).length > 0) return [];
  return [`Node ${nodeName} has no InternalIP and no ExternalIP, so its address is not known: set --bind-address`];
}

const HOW_TO_DETECT: Readonly<Record<string, string>> = {
  ClusterCIDR: 'set --cluster-cidr to the ranges of the pods',
  NodeCIDR:
    'detect-local-mode NodeCIDR needs spec.podCIDRs of the Node, and a proxy in a cluster does not start without it',
};

/** Only for families that the node or a Service has. */
function detectorNotes({ detectLocalMode }: Configuration, nodeName: string, state: ProxyState): readonly string[] {
  const { nodeIPs, families } = state.nodeOptions;
  const isUsed = (family: Family) => isNodeIPKnown(nodeIPs, family) || hasPlans(state, family);
  const missing = FAMILIES.filter(family => isUsed(family) && families[family].localDetector === undefined);
  if (missing.length === 0) return [];
  const advice = HOW_TO_DETECT[detectLocalMode];
  const effect = `the proxy on ${nodeName} does not recognise connections of pods (${missing.join(' and ')})`;
  return [advice === undefined ? effect : `${effect}: ${advice}`];
}

function hasPlans(state: ProxyState, family: Family): boolean {
  for (const _ of state.family(family).planner.plans()) return true;
  return false;
}

function clusterCidrNotes(
  { detectLocalMode, detectLocal }: Configuration,
  nodeName: string,
  { nodeOptions: { nodeIPs } }: ProxyState,
): readonly string[] {
  if (detectLocalMode !== 'ClusterCIDR') return [];
  const given = new Set(detectLocal.clusterCIDRs.flatMap(text => parseCidr(text.trim()) ?? []).map(cidrFamily));
  const isAnyKnown = FAMILIES.some(family => isNodeIPKnown(nodeIPs, family));
  const without = FAMILIES.filter(family => isAnyKnown && given.has(family) && !isNodeIPKnown(nodeIPs, family));
  return without.map(
    family => `there are pods with ${family} addresses (--cluster-cidr), but Node ${nodeName} has no ${family} address`,
  );
}

function familyNotes(configuration: Configuration, node: Node | undefined, state: ProxyState): readonly string[] {
  const findings = checkFamilies({
    primary: state.nodeOptions.nodeIPs.primary,
    dualStack: true,
    detectLocalMode: configuration.detectLocalMode,
    clusterCIDRs: configuration.detectLocal.clusterCIDRs,
    podCIDRs: node?.podCIDRs ?? [],
    nodePortAddresses: [],
    ipvsExcludeCIDRs: configuration.ipvs.excludeCIDRs ?? [],
    healthzBindAddress: '',
    metricsBindAddress: '',
  });
  return findings.map(({ message, fatal }) => (fatal ? `${message}: a proxy does not start` : message));
}
