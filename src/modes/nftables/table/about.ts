import { REJECT_CHAIN } from './denials.ts';
import { isOwnMap } from './own-picks.ts';
import { LOCALHOST_REJECT_CHAIN } from './program.ts';

/** What the chains of the fixed program are for. */
const CHAINS: Readonly<Record<string, string>> = {
  'filter-prerouting-pre-dnat':
    'Sends new connections to the check of source ranges, before their destination changes.',
  'filter-output-pre-dnat':
    'Sends new connections of this node to the check of source ranges, before their destination changes.',
  'filter-input': 'Refuses new connections to this node that no endpoint can serve.',
  'filter-forward': 'Refuses new connections through this node that no endpoint can serve.',
  'filter-output': 'Refuses new connections of this node that no endpoint can serve.',
  'nat-prerouting': 'Sends new connections from pods and from outside to the Services.',
  'nat-output': 'Sends new connections that begin on this node to the Services.',
  'nat-postrouting': 'Decides which connections leave with the address of this node.',
  'firewall-check': 'Drops connections to load-balancer IPs from sources that the Service does not allow.',
  'service-endpoints-check': 'Rejects or drops connections to Services without an endpoint that can serve them.',
  'nodeport-endpoints-check': 'Rejects or drops connections to node ports without an endpoint that can serve them.',
  'cluster-ips-check': 'Rejects unknown ports of cluster IPs, and drops packets to cluster IPs that no Service has.',
  masquerading: 'Gives marked connections, and those of an endpoint to itself, the address of this node.',
  services: 'Finds the Service of a new connection by its destination, and goes to the chain that picks an endpoint.',
  [REJECT_CHAIN]: 'Rejects a connection, so that the caller knows at once.',
  'count-service-reject': 'Counts a connection to a Service, and rejects it.',
  'count-nodeport-reject': 'Counts a connection to a node port, and rejects it.',
  'count-service-drop': 'Counts a connection to a Service, and drops it.',
  'count-nodeport-drop': 'Counts a connection to a node port, and drops it.',
  [LOCALHOST_REJECT_CHAIN]: 'Counts and rejects connections to node ports at loopback addresses.',
};

/** What the chains are for that exist because Services use them, by how their names begin. */
const CHAIN_KINDS: readonly (readonly [prefix: string, about: string])[] = [
  ['pick-', 'Sends a connection to one of its endpoints; the last number of the name says of how many.'],
  ['slot-', 'Sends a connection to the endpoint whose slot the chain of its service port has chosen.'],
  ['external-', 'Masquerades connections from outside where their policy wants it, and goes on to the endpoints.'],
  ['firewall-', 'Lets the allowed sources of a load-balancer IP pass, and drops all others.'],
  ['service-', 'Picks the endpoint that remembers the client, or one by the way in which the Service is balanced.'],
  ['local-', 'As the chain of the same service port that begins with service, with the endpoints of this node only.'],
  ['endpoint-', 'Remembers the client, and sends the connection to this endpoint.'],
];

/** What the sets and maps are for. */
const SETS: Readonly<Record<string, string>> = {
  'cluster-ips': 'The cluster IPs of all Services.',
  'service-cidrs': 'The ranges that cluster IPs come from.',
  'nodeport-ips': 'The addresses of this node that accept node ports, if not all do.',
  'hairpin-connections': 'The local endpoints that may call themselves through a Service.',
  'service-numbers': 'From address, protocol and port of a Service to the number of its chain.',
  'nodeport-numbers': 'From protocol and node port to the number of its chain.',
  targets: 'From the number of a chain to the chain.',
  'service-ips': 'From address, protocol and port to the own chain of a service port.',
  'service-nodeports': 'From protocol and node port to the own chain of a service port.',
  'no-endpoint-services': 'The addresses and ports that no endpoint can serve, and what happens to connections.',
  'no-endpoint-nodeports': 'The node ports that no endpoint can serve, and what happens to connections.',
  'firewall-ips': 'The load-balancer IPs that allow only some sources, each with its chain.',
  'cluster-endpoints': 'All usable endpoints of a Service, numbered from 0: for policy Cluster.',
  'local-endpoints': 'The usable endpoints on this node, numbered from 0: for policy Local.',
  'nodeport-cluster-endpoints': 'All usable endpoints of a node port, numbered from 0: for policy Cluster.',
  'nodeport-local-endpoints': 'The usable endpoints of a node port on this node, numbered from 0: for policy Local.',
  'service-connections': 'Counts new connections to each address and port of a Service.',
  'nodeport-connections': 'Counts new connections to each node port.',
  'service-rejects': 'Counts packets to each address and port of a Service that were rejected.',
  'nodeport-rejects': 'Counts packets to each node port that were rejected.',
  'service-drops': 'Counts packets to each address and port of a Service that were dropped.',
  'nodeport-drops': 'Counts packets to each node port that were dropped.',
  'localhost-rejects': 'The node ports that are rejected at loopback addresses.',
  'localhost-rejected-packets': 'Counts the packets that were rejected at loopback addresses, by protocol.',
};

const AFFINITY = 'The clients that this endpoint serves, until their session affinity ends. The kernel adds them.';
const OWN_MAP = 'The endpoints of one service port by slot. The chain of the service port chooses a slot.';

export function aboutChain(name: string): string | undefined {
  return CHAINS[name] ?? CHAIN_KINDS.find(([prefix]) => name.startsWith(prefix))?.[1];
}

export function aboutSet(name: string): string {
  return SETS[name] ?? (isOwnMap(name) ? OWN_MAP : AFFINITY);
}
