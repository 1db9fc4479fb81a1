export type ChainName =
  | 'KUBE-PORTALS-CONTAINER'
  | 'KUBE-PORTALS-HOST'
  | 'KUBE-NODEPORT-CONTAINER'
  | 'KUBE-NODEPORT-HOST'
  | 'KUBE-NODEPORT-NON-LOCAL'
  | 'KUBE-PORTALS-FILTER';

export type TableName = 'filter' | 'nat';

export const TABLES: readonly TableName[] = ['filter', 'nat'];

/** The chains of this mode. Upstream's userspace mode had all of them but `KUBE-PORTALS-FILTER`. */
export const CHAINS: Readonly<Record<TableName, readonly ChainName[]>> = {
  filter: ['KUBE-NODEPORT-NON-LOCAL', 'KUBE-PORTALS-FILTER'],
  nat: ['KUBE-PORTALS-CONTAINER', 'KUBE-PORTALS-HOST', 'KUBE-NODEPORT-CONTAINER', 'KUBE-NODEPORT-HOST'],
};

/** No other mode makes this chain, so a machine that has it ran this mode. */
export const MARKER_CHAIN: ChainName = 'KUBE-PORTALS-HOST';
