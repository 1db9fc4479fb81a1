import type { DataType, NftFamily, NftMap, NftSet } from '../../../kernel/nftables/index.ts';
import type { Family } from '../../../net/index.ts';

/** The table is called as upstream's, so that each cleans up and takes over what the other left. */
export const TABLE = 'kube-proxy';

/** What the table of one family is made of, apart from its chains: a fixed program looks things up in these. */
export interface Layout {
  readonly family: Family;
  readonly nft: Extract<NftFamily, 'ip' | 'ip6'>;
  readonly clusterIPs: NftSet;
  readonly serviceCIDRs: NftSet;
  readonly nodePortIPs: NftSet;
  readonly hairpins: NftSet;
  /** Address, protocol and port of a frontend: the number of the chain that a new connection goes to. */
  readonly serviceIPs: NftMap;
  readonly serviceNodePorts: NftMap;
  /** The chains by their numbers. */
  readonly targets: NftMap;
  /** The same for service ports that have chains of their own: the chain itself. */
  readonly serviceChains: NftMap;
  readonly nodePortChains: NftMap;
  readonly noEndpointServices: NftMap;
  readonly noEndpointNodePorts: NftMap;
  readonly firewallIPs: NftMap;
  /** The same and a slot number: an endpoint. A chain for each number of endpoints picks the slot. */
  readonly clusterEndpoints: NftMap;
  readonly localEndpoints: NftMap;
  readonly nodePortClusterEndpoints: NftMap;
  readonly nodePortLocalEndpoints: NftMap;
  /** Frontends, each with a counter; only where connections are counted. */
  readonly serviceConnections?: NftSet;
  readonly nodePortConnections?: NftSet;
}

export interface LayoutOptions {
  readonly countConnections?: boolean | undefined;
}

export function layoutOf(family: Family, { countConnections = false }: LayoutOptions = {}): Layout {
  const address: DataType = family === 'IPv4' ? 'ipv4_addr' : 'ipv6_addr';
  const frontend: readonly DataType[] = [address, 'inet_proto', 'inet_service'];
  const nodePort: readonly DataType[] = ['inet_proto', 'inet_service'];
  const endpoint: readonly DataType[] = [address, 'inet_service'];
  const number: DataType = 'mark';
  const set = (name: string, type: readonly DataType[], comment: string): NftSet => ({
    kind: 'set',
    name,
    type,
    comment,
  });
  const verdicts = (name: string, type: readonly DataType[], comment: string): NftMap => ({
    kind: 'map',
    name,
    type,
    data: ['verdict'],
    comment,
  });
  const numbers = (name: string, type: readonly DataType[], comment: string): NftMap => ({
    kind: 'map',
    name,
    type,
    data: [number],
    comment,
  });
  const endpoints = (name: string, type: readonly DataType[], comment: string): NftMap => ({
    kind: 'map',
    name,
    type: [...type, number],
    data: endpoint,
    comment,
  });
  return {
    family,
    nft: family === 'IPv4' ? 'ip' : 'ip6',
    clusterIPs: set('cluster-ips', [address], 'Active ClusterIPs'),
    serviceCIDRs: { ...set('service-cidrs', [address], 'Ranges that ClusterIPs are from'), flags: ['interval'] },
    nodePortIPs: set('nodeport-ips', [address], 'IPs that accept NodePort traffic'),
    hairpins: set(
      'hairpin-connections',
      [address, address, 'inet_proto', 'inet_service'],
      'service hairpin connections',
    ),
    serviceIPs: numbers('service-ips', frontend, 'ClusterIP, ExternalIP and LoadBalancer IP traffic'),
    serviceNodePorts: numbers('service-nodeports', nodePort, 'NodePort traffic'),
    targets: verdicts('targets', [number], 'the chains that Services share, by number'),
    serviceChains: verdicts('service-chains', frontend, 'Services with chains of their own'),
    nodePortChains: verdicts('nodeport-chains', nodePort, 'the same of node ports'),
    noEndpointServices: verdicts('no-endpoint-services', frontend, 'drop or reject what no endpoint can serve'),
    noEndpointNodePorts: verdicts('no-endpoint-nodeports', nodePort, 'the same of node ports'),
    firewallIPs: verdicts('firewall-ips', frontend, 'destinations that are subject to LoadBalancerSourceRanges'),
    clusterEndpoints: endpoints('cluster-endpoints', frontend, 'endpoints for policy Cluster, by slot'),
    localEndpoints: endpoints('local-endpoints', frontend, 'endpoints for policy Local, by slot'),
    nodePortClusterEndpoints: endpoints('nodeport-cluster-endpoints', nodePort, 'the same of node ports'),
    nodePortLocalEndpoints: endpoints('nodeport-local-endpoints', nodePort, 'the same of node ports'),
    ...(countConnections && {
      serviceConnections: { ...set('service-connections', frontend, 'new connections to Services'), counter: true },
      nodePortConnections: { ...set('nodeport-connections', nodePort, 'the same of node ports'), counter: true },
    }),
  };
}

/** All sets and maps of the fixed program, in the order in which they are made. */
export function fixedSets(layout: Layout): readonly (NftSet | NftMap)[] {
  const { family: _family, nft: _nft, ...sets } = layout;
  return Object.values(sets);
}
