import type { DataType, NftFamily, NftMap, NftSet } from '../../../kernel/nftables/index.ts';
import type { Family } from '../../../net/index.ts';

/**
 * Upstream's table has the same name, so each of the two proxies takes over what the other left. An object with a name
 * that upstream uses has the same type as upstream's object, or upstream could not write its rules.
 */
export const TABLE = 'kube-proxy';

/**
 * The sets and maps in the table of one family, and what else stays the same while the process runs. The fixed program
 * looks up addresses and ports in the sets.
 */
export interface Layout {
  readonly family: Family;
  readonly nft: Extract<NftFamily, 'ip' | 'ip6'>;
  readonly clusterIPs: NftSet;
  readonly serviceCIDRs: NftSet;
  readonly nodePortIPs: NftSet;
  readonly hairpins: NftSet;
  /** From a frontend (address, protocol and port) to the number of the chain for its new connections. */
  readonly serviceNumbers: NftMap;
  /** As `serviceNumbers`, from the protocol and port of a node port. */
  readonly nodePortNumbers: NftMap;
  /** From the number of a chain to the chain. */
  readonly targets: NftMap;
  /** From a frontend to its chain, for service ports that have chains of their own. */
  readonly serviceChains: NftMap;
  readonly nodePortChains: NftMap;
  readonly noEndpointServices: NftMap;
  readonly noEndpointNodePorts: NftMap;
  readonly firewallIPs: NftMap;
  /** From a frontend and a slot number to an endpoint. The chain for the number of endpoints picks the slot. */
  readonly clusterEndpoints: NftMap;
  readonly localEndpoints: NftMap;
  readonly nodePortClusterEndpoints: NftMap;
  readonly nodePortLocalEndpoints: NftMap;
  /** The frontends, each with a counter. The set exists only if the mode counts connections. */
  readonly serviceConnections?: NftSet;
  readonly nodePortConnections?: NftSet;
  /** The same frontends, with counters of packets that were rejected. */
  readonly serviceRejects?: NftSet;
  readonly nodePortRejects?: NftSet;
  /** The frontends whose packets may be dropped, with counters of those packets. */
  readonly serviceDrops?: NftSet;
  readonly nodePortDrops?: NftSet;
  /** The node ports that are rejected at loopback. These two exist only if the mode knows node ports at loopback. */
  readonly localhostRejects?: NftMap;
  /** The protocols, each with a counter of rejected packets. */
  readonly localhostRejectedPackets?: NftSet;
  /** Masqueraded TCP connections of node processes keep their source port if it is free. */
  readonly keepsNodeSourcePorts: boolean;
}

export interface LayoutOptions {
  readonly countConnections?: boolean | undefined;
  readonly keepNodeSourcePorts?: boolean | undefined;
  readonly localhostNodePorts?: boolean | undefined;
}

export function layoutOf(
  family: Family,
  { countConnections = false, localhostNodePorts = false, keepNodeSourcePorts = false }: LayoutOptions = {},
): Layout {
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
    keepsNodeSourcePorts: keepNodeSourcePorts,
    clusterIPs: set('cluster-ips', [address], 'Active ClusterIPs'),
    serviceCIDRs: {
      ...set('service-cidrs', [address], 'Ranges that ClusterIPs are allocated from'),
      flags: ['interval'],
    },
    nodePortIPs: set('nodeport-ips', [address], 'IPs that accept NodePort traffic'),
    hairpins: set(
      'hairpin-connections',
      [address, address, 'inet_proto', 'inet_service'],
      'service hairpin connections',
    ),
    serviceNumbers: numbers('service-numbers', frontend, 'ClusterIP, ExternalIP and LoadBalancer IP traffic'),
    nodePortNumbers: numbers('nodeport-numbers', nodePort, 'NodePort traffic'),
    targets: verdicts('targets', [number], 'chains that Services share, by number'),
    serviceChains: verdicts('service-ips', frontend, 'Services with chains of their own'),
    nodePortChains: verdicts('service-nodeports', nodePort, 'node ports with chains of their own'),
    noEndpointServices: verdicts(
      'no-endpoint-services',
      frontend,
      'drop or reject traffic to Services without endpoints',
    ),
    noEndpointNodePorts: verdicts(
      'no-endpoint-nodeports',
      nodePort,
      'drop or reject traffic to node ports without endpoints',
    ),
    firewallIPs: verdicts('firewall-ips', frontend, 'destinations that are subject to LoadBalancerSourceRanges'),
    clusterEndpoints: endpoints('cluster-endpoints', frontend, 'endpoints for policy Cluster, by slot'),
    localEndpoints: endpoints('local-endpoints', frontend, 'endpoints for policy Local, by slot'),
    nodePortClusterEndpoints: endpoints(
      'nodeport-cluster-endpoints',
      nodePort,
      'endpoints of node ports for policy Cluster, by slot',
    ),
    nodePortLocalEndpoints: endpoints(
      'nodeport-local-endpoints',
      nodePort,
      'endpoints of node ports for policy Local, by slot',
    ),
    ...(countConnections && {
      serviceConnections: { ...set('service-connections', frontend, 'new connections to Services'), counter: true },
      nodePortConnections: { ...set('nodeport-connections', nodePort, 'new connections to node ports'), counter: true },
      serviceRejects: { ...set('service-rejects', frontend, 'rejected packets to Services'), counter: true },
      nodePortRejects: { ...set('nodeport-rejects', nodePort, 'rejected packets to node ports'), counter: true },
      serviceDrops: { ...set('service-drops', frontend, 'dropped packets to Services'), counter: true },
      nodePortDrops: { ...set('nodeport-drops', nodePort, 'dropped packets to node ports'), counter: true },
    }),
    ...(localhostNodePorts && {
      localhostRejects: verdicts('localhost-rejects', nodePort, 'node ports that are rejected at loopback addresses'),
      localhostRejectedPackets: {
        ...set('localhost-rejected-packets', ['inet_proto'], 'packets that were rejected at loopback addresses'),
        counter: true,
      },
    }),
  };
}

/** The maps in which a packet finds its way to an endpoint. */
export function mapsToEndpoints(layout: Layout): readonly NftMap[] {
  return [
    layout.serviceNumbers,
    layout.nodePortNumbers,
    layout.targets,
    layout.serviceChains,
    layout.nodePortChains,
    layout.clusterEndpoints,
    layout.localEndpoints,
    layout.nodePortClusterEndpoints,
    layout.nodePortLocalEndpoints,
  ];
}

/** The sets whose elements depend on no Service. */
export function setsOfFixedElements({
  nodePortIPs,
  serviceCIDRs,
  localhostRejectedPackets,
}: Layout): readonly NftSet[] {
  return [nodePortIPs, serviceCIDRs, ...(localhostRejectedPackets ? [localhostRejectedPackets] : [])];
}

/** All sets and maps of the fixed program, in the order in which the writer creates them. */
export function fixedSets(layout: Layout): readonly (NftSet | NftMap)[] {
  const { family: _family, nft: _nft, keepsNodeSourcePorts: _keeps, ...sets } = layout;
  return Object.values(sets);
}
