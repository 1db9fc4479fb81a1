import type { Cidr } from '../net/index.ts';

export type SelectedProtocol = 'TCP' | 'UDP' | 'SCTP';

/** Which packets to follow. */
export interface PacketSelection {
  /** `node`: only packets of this machine itself. Undefined: packets from anywhere. */
  readonly source: Cidr | 'node' | undefined;
  /** A packet must match one of these. Without any, all packets from the source match. */
  readonly destinations: readonly SelectedDestination[];
}

export interface SelectedDestination {
  /** `node`: every address of this machine, for a node port. */
  readonly address: Cidr | 'node';
  readonly protocol?: SelectedProtocol;
  readonly port?: number;
}
