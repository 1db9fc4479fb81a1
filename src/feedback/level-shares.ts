/** How much of its fair share an endpoint has now. */
export interface EndpointLoad {
  /** Open connections. */
  readonly connections: number;
  /** The part of its weight that slow start gives the endpoint, from 0.1 to 1. */
  readonly part: number;
}

/** Shares are tenths. */
const PARTS = 10;
/** Even an endpoint with too many connections gets some, so that none is left out for ever. */
const MIN_PARTS = 1;
/** The mean share while loads differ. It leaves room for more and for less. */
const MEAN_PARTS = 5;
/** A smaller difference is not worth writing to the kernel. */
const TOLERATED_PART = 0.02;

/**
 * The shares with which the next `arrivals` connections bring all endpoints closest to the same number of connections.
 * Like water that fills a vessel: the endpoint with the fewest connections gets them first.
 */
export function levelShares(loads: readonly EndpointLoad[], arrivals: number): readonly number[] {
  if (isLevel(loads)) return loads.map(({ part }) => part);
  const level = waterLevel(loads, Math.max(arrivals, 1));
  const missing = loads.map(({ connections, part }) => Math.max(0, level * part - connections));
  return roundedParts(missing, MEAN_PARTS * loads.length).map(parts => parts / PARTS);
}

/**
 * Whole numbers in the ratio of the given ones. As long as none reaches a limit, their sum is `total`: then the number of
 * slots stays the same, and a mode need not change its rules.
 */
function roundedParts(numbers: readonly number[], total: number): readonly number[] {
  const sum = numbers.reduce((before, number) => before + number, 0);
  const exact = numbers.map(number => (number * total) / sum);
  const parts = exact.map(number => Math.min(PARTS, Math.max(MIN_PARTS, Math.floor(number))));
  let left = total - parts.reduce((before, number) => before + number, 0);
  const byRest = [...exact.keys()].sort((a, b) => rest(exact, b) - rest(exact, a));
  for (const i of byRest) {
    const part = parts[i] ?? 0;
    if (left <= 0 || rest(exact, i) === 0 || part === PARTS || (exact[i] ?? 0) < part) continue;
    parts[i] = part + 1;
    left--;
  }
  return parts;
}

function rest(exact: readonly number[], i: number): number {
  return (exact[i] ?? 0) % 1;
}

/** All endpoints have the number of connections that they should have, or nearly so. */
function isLevel(loads: readonly EndpointLoad[]): boolean {
  const connections = loads.reduce((sum, load) => sum + load.connections, 0);
  const parts = loads.reduce((sum, { part }) => sum + part, 0);
  return loads.every(load => {
    const ideal = (connections * load.part) / parts;
    return Math.abs(load.connections - ideal) < Math.max(1, ideal * TOLERATED_PART);
  });
}

/** The number of connections for each whole part at which the endpoints below it lack exactly `arrivals` of them. */
function waterLevel(loads: readonly EndpointLoad[], arrivals: number): number {
  const sorted = loads.toSorted((a, b) => a.connections / a.part - b.connections / b.part);
  let connections = arrivals;
  let parts = 0;
  for (const load of sorted) {
    if (parts > 0 && connections / parts <= load.connections / load.part) break;
    connections += load.connections;
    parts += load.part;
  }
  return connections / parts;
}
