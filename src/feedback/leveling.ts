import { type EndpointLoad, levelShares, openConnections } from './level-shares.ts';

/** A difference of this many connections is large, if it is not below the tolerated part. */
const LARGE_DIFFERENCE = 4;
/** A difference below one connection, or below this part of the mean, is none. */
const TOLERATED_PART = 0.02;
/**
 * Small differences are corrected for the time in which as many connections come as are open, and then left alone for
 * this many times as long. A correction disturbs the turns a little, so under steady load small differences would never
 * end. In turns over equal shares, they are gone as soon as all connections have been replaced.
 */
const REST = 1.5;

/** Decides when the endpoints of a service port get other shares, so that all have the same number of connections. */
export class Leveling {
  /** New connections, in parts of the open ones, since small differences were first corrected. */
  #replaced = 0;

  /** `arrivals` came since the last call. */
  shares(loads: readonly EndpointLoad[], arrivals: number): readonly number[] {
    const difference = largestDifference(loads);
    const isResting = this.#replaced >= 1;
    this.#replaced = (this.#replaced + arrivals / Math.max(1, openConnections(loads))) % (1 + REST);
    const isCorrected = difference === 'large' || (difference === 'small' && !isResting);
    return isCorrected ? levelShares(loads, arrivals) : loads.map(({ part }) => part);
  }
}

/** How far an endpoint is from the number of connections that it should have. */
function largestDifference(loads: readonly EndpointLoad[]): 'none' | 'small' | 'large' {
  const open = openConnections(loads);
  const parts = loads.reduce((sum, { part }) => sum + part, 0);
  let largest: 'none' | 'small' = 'none';
  for (const { connections, part } of loads) {
    const ideal = (open * part) / parts;
    const difference = Math.abs(connections - ideal);
    if (difference >= Math.max(LARGE_DIFFERENCE, ideal * TOLERATED_PART)) return 'large';
    if (difference >= Math.max(1, ideal * TOLERATED_PART)) largest = 'small';
  }
  return largest;
}
