/** A chain of ours. */
export type ChainName =
  | 'KUBE-PORTALS-CONTAINER'
  | 'KUBE-PORTALS-HOST'
  | 'KUBE-NODEPORT-CONTAINER'
  | 'KUBE-NODEPORT-HOST'
  | 'KUBE-NODEPORT-NON-LOCAL'
  | 'KUBE-PORTALS-FILTER';

export type TableName = 'filter' | 'nat';

export const CHAINS: Readonly<Record<TableName, readonly ChainName[]>> = {
  filter: ['KUBE-NODEPORT-NON-LOCAL', 'KUBE-PORTALS-FILTER'],
  nat: ['KUBE-PORTALS-CONTAINER', 'KUBE-PORTALS-HOST', 'KUBE-NODEPORT-CONTAINER', 'KUBE-NODEPORT-HOST'],
};

export const TABLES: readonly TableName[] = ['filter', 'nat'];

/** A rule of a built-in chain that leads to one of ours. */
export interface Jump {
  readonly table: TableName;
  readonly from: string;
  readonly to: ChainName;
  readonly position: 'prepend' | 'append';
  readonly match: readonly string[];
}

const FIRST = 'handle ClusterIPs; NOTE: this must be before the NodePort rules';
const LAST = 'handle service NodePorts; NOTE: this must be the last rule in the chain';
const NON_LOCAL = 'Ensure that non-local NodePort traffic can flow';
const FILTER = 'portals without endpoints, and the ports behind portals';

const comment = (text: string) => ['-m', 'comment', '--comment', text];
const LOCAL = ['-m', 'addrtype', '--dst-type', 'LOCAL'];
/** Packets of connections that were let in need not be looked at again. */
const NEW = ['-m', 'conntrack', '--ctstate', 'NEW'];

function jump(
  table: TableName,
  from: string,
  to: ChainName,
  position: Jump['position'],
  ...match: readonly string[]
): Jump {
  return { table, from, to, position, match };
}

export const JUMPS: readonly Jump[] = [
  jump('nat', 'PREROUTING', 'KUBE-PORTALS-CONTAINER', 'prepend', ...comment(FIRST)),
  jump('nat', 'OUTPUT', 'KUBE-PORTALS-HOST', 'prepend', ...comment(FIRST)),
  jump('nat', 'PREROUTING', 'KUBE-NODEPORT-CONTAINER', 'append', ...LOCAL, ...comment(LAST)),
  jump('nat', 'OUTPUT', 'KUBE-NODEPORT-HOST', 'append', ...LOCAL, ...comment(LAST)),
  jump('filter', 'INPUT', 'KUBE-NODEPORT-NON-LOCAL', 'prepend', ...comment(NON_LOCAL)),
  ...['INPUT', 'FORWARD', 'OUTPUT'].map(from =>
    jump('filter', from, 'KUBE-PORTALS-FILTER', 'prepend', ...NEW, ...comment(FILTER)),
  ),
];
