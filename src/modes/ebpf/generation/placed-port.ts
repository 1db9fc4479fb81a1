import type { Family } from '../../../net/index.ts';
import { diffPorts, type PortDiff } from '../diff.ts';
import type { SocketPort } from '../render.ts';
import type { PlacedPool } from './pool-table.ts';

/** One service port that changed. */
export interface PortChange {
  readonly family: Family;
  readonly id: string;
  /** Undefined if sockets no longer serve it. */
  readonly to: SocketPort | undefined;
}

/** A service port with the numbers that it has in one generation. */
export interface PlacedPort {
  readonly family: Family;
  readonly port: SocketPort;
  readonly pools: readonly PlacedPool[];
  /** The number of its element in `counts`. 0 if nothing counts. */
  readonly counter: number;
}

/** A change, with what there is before it. */
export interface Step {
  readonly change: PortChange;
  readonly from: PlacedPort | undefined;
  readonly diff: PortDiff;
}

export function stepOf(change: PortChange, from: PlacedPort | undefined): Step {
  return { change, from, diff: diffPorts(from?.port, change.to) };
}
