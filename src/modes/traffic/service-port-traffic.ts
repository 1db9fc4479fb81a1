import type { Family } from '../../net/index.ts';

/** Figures about traffic. A figure that the mode does not count is undefined. */
export interface TrafficFigures {
  /** New connections so far. */
  readonly connections?: number | undefined;
  /** Connections that are open now. */
  readonly active?: number | undefined;
  /** Of both directions, so far. */
  readonly packets?: number | undefined;
  readonly bytes?: number | undefined;
  /** Attempts that got an error because the Service has no endpoint. */
  readonly rejected?: number | undefined;
  /** Attempts that got no answer: no local endpoint, or a source that may not connect. */
  readonly dropped?: number | undefined;
}

/**
 * The traffic of one service port in one family. A sum may become smaller if a counter of the kernel begins anew.
 * `TrafficReader` makes sums of them that do not.
 */
export interface ServicePortTraffic extends TrafficFigures {
  readonly family: Family;
  /** `namespace/name` */
  readonly service: string;
  /** The name of the port; empty if it has none. */
  readonly port: string;
  /** By text of the endpoint. Undefined if the mode counts no endpoints. */
  readonly endpoints?: ReadonlyMap<string, TrafficFigures> | undefined;
}
