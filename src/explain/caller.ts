import type { Ip } from '../net/index.ts';

/** Where a connection comes from: a pod of the cluster, the node itself, or anything else. */
export type Place = 'pod' | 'node' | 'outside';

/** What makes a connection. */
export interface Caller {
  readonly place: Place;
  /** For the node itself, its address on the way to the destination. */
  readonly ip: Ip;
  /** A pod of another node. Its packets come to this node from outside, and answers to it take another way. */
  readonly isOnOtherNode?: boolean | undefined;
}
