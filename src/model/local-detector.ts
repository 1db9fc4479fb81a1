import { type Cidr, cidrFamily, type Family, parseCidr } from '../net/index.ts';

/** How rules recognise traffic from this node's pods. */
export type LocalDetector =
  | { readonly kind: 'source-cidr'; readonly cidr: Cidr }
  | { readonly kind: 'interface'; readonly name: string }
  | { readonly kind: 'interface-prefix'; readonly prefix: string };

export interface LocalDetectorConfig {
  /** ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix. */
  readonly mode: string;
  readonly clusterCIDRs: readonly string[];
  readonly podCIDRs: readonly string[];
  readonly bridgeInterface: string;
  readonly interfaceNamePrefix: string;
}

export interface LocalDetectors {
  /** Undefined if traffic from pods cannot be recognised in this family. */
  readonly IPv4: LocalDetector | undefined;
  readonly IPv6: LocalDetector | undefined;
  /** Something about the choice that the operator should know. */
  readonly notice: string | undefined;
}

export function chooseLocalDetectors(config: LocalDetectorConfig, primary: Family): LocalDetectors {
  switch (config.mode) {
    case 'ClusterCIDR':
      return byCidr(config.clusterCIDRs, primary, 'ClusterCIDR, but no cluster CIDR specified');
    case 'NodeCIDR':
      return byCidr(config.podCIDRs, primary, 'NodeCIDR, but no PodCIDR defined at node');
    case 'BridgeInterface':
      return both({ kind: 'interface', name: config.bridgeInterface });
    case 'InterfaceNamePrefix':
      return both({ kind: 'interface-prefix', prefix: config.interfaceNamePrefix });
    default:
      return { IPv4: undefined, IPv6: undefined, notice: 'Defaulting to no-op detect-local' };
  }
}

function byCidr(texts: readonly string[], primary: Family, missing: string): LocalDetectors {
  const cidrs = texts.map(text => parseCidr(text.trim()));
  const first = (family: Family): LocalDetector | undefined => {
    const cidr = cidrs.find(candidate => candidate !== undefined && cidrFamily(candidate) === family);
    return cidr && { kind: 'source-cidr', cidr };
  };
  const detectors = { IPv4: first('IPv4'), IPv6: first('IPv6') };
  const notice = detectors[primary] ? undefined : `Detect-local-mode set to ${missing} for primary IP family`;
  return { ...detectors, notice };
}

function both(detector: LocalDetector): LocalDetectors {
  return { IPv4: detector, IPv6: detector, notice: undefined };
}
