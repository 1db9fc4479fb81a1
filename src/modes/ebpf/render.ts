import type { Ip } from '../../net/index.ts';

/** The endpoints that a target of a service port leads to. A service port has at most two pools. */
export type PoolName = 'cluster' | 'local';

/** What one service port is in the maps. It has only what a socket can decide; the network serves the rest. */
export interface SocketPort {
  /** The id of the plan. */
  readonly id: string;
  readonly targets: readonly SocketTarget[];
  /** The endpoints of each pool that a target names. */
  readonly pools: ReadonlyMap<PoolName, readonly SocketEndpoint[]>;
  /** 0: no session affinity. */
  readonly affinitySeconds: number;
  readonly isLeastConnections: boolean;
}

export interface SocketTarget {
  /** Undefined for a node port, which every address has that accepts node ports. */
  readonly ip: Ip | undefined;
  readonly port: number;
  /** `refuse`: no endpoint can serve. */
  readonly to: PoolName | 'refuse';
  /** Only for processes of the node itself. */
  readonly isNodeOnly: boolean;
}

export interface SocketEndpoint {
  readonly ip: Ip;
  readonly port: number;
}
