import type { Hook } from '../../../kernel/bpf/index.ts';
import type { MapName } from '../programs/index.ts';

/** What each map is for. */
const MAPS: Readonly<Record<string, string>> = {
  frontends: 'Leads the address and port that a process connects to, to a pool of endpoints, or refuses the call.',
  nodeAddresses: 'The addresses of this node that accept node ports.',
  pools: 'Leads a pool to its run of slots. One store replaces the endpoints of a pool.',
  slots: 'The endpoints. The program picks a slot of the run by chance. A larger weight means more slots.',
  members: 'The endpoints of pools with session affinity: a client keeps its endpoint only while it is one of them.',
  affinity: 'Remembers the last endpoint of each network namespace, for session affinity.',
  active: 'Counts the connections of this node to each endpoint, for least connections.',
  peers: 'What each socket remembers of the Service that it was connected to.',
  counts: 'Counts the connections of each service port.',
  lease: 'Until when the programs serve. The proxy renews it; without a proxy the network soon serves all connections.',
  namespaces: 'The network namespaces whose sockets the mode serves.',
};

export function aboutMap(name: MapName): string {
  return MAPS[name.replace(/\d$/, '')] ?? '';
}

const PROGRAMS: Readonly<Partial<Record<Hook, string>>> = {
  connect4: 'Runs inside connect() of IPv4 sockets, and replaces the address of a Service by that of an endpoint.',
  connect6: 'Runs inside connect() of IPv6 sockets, also if they connect to an IPv4 address.',
  getpeername4: 'Runs inside getpeername(), and shows the address of the Service that the process asked for.',
  getpeername6: 'Runs inside getpeername() of IPv6 sockets, and shows the address of the Service.',
  release: 'Runs when a socket is closed, and counts its connection off.',
};

export function aboutProgram(hook: Hook): string {
  return PROGRAMS[hook] ?? '';
}
