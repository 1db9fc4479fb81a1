import type { Ip } from '../net/index.ts';

/** Where a connection comes from: a pod of the cluster, the node itself, or anything else. */
export type Place = 'pod' | 'node' | 'outside';

/** What makes a connection. */
export interface Caller {
  readonly place: Place;
  readonly ip: Ip;
}
