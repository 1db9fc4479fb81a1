import type { Family } from '../net/index.ts';

/** New connections to one address and port of a service port. The count is zero when the frontend is new. */
export interface FrontendConnections {
  readonly family: Family;
  /** `namespace/name` */
  readonly service: string;
  /** The name of the port; empty if it has none. */
  readonly port: string;
  readonly connections: number;
}

/** Reads counters, one frontend after another. A count does not decrease while the process runs and the frontend exists. */
export type ReadConnections = () => AsyncIterable<FrontendConnections>;
