import type { Protocol } from '../../../api/index.ts';
import type { Family } from '../../../net/index.ts';
import type { ProxyCounters } from '../../relay/index.ts';

/** The counters of one service port. */
export interface ServiceCounters extends ProxyCounters {
  readonly family: Family;
  /** `namespace/name` */
  readonly service: string;
  /** The name of the port; empty if it has none. */
  readonly port: string;
  readonly protocol: Protocol;
}
