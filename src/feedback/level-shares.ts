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
/**
 * The next looks, and the part of the open connections, in whose time shares level the endpoints. Connections that one
 * endpoint gets in a shorter time also end in a shorter time. Then the endpoint lacks them again, and so on for ever.
 */
const LOOKS = 3;
const REPLACED_PART = 1 / 8;

/**
 * The shares with which the next connections bring all endpoints closest to the same number of connections. Like water
 * that fills a vessel: the endpoint with the fewest connections gets them first. `arrivals` came since the last look.
 */
export function levelShares(loads: readonly EndpointLoad[], arrivals: number): readonly number[] {
  const level = waterLevel(loads, Math.max(LOOKS * arrivals, REPLACED_PART * openConnections(loads), 1));
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

export function openConnections(loads: readonly EndpointLoad[]): number {
  return loads.reduce((sum, { connections }) => sum + connections, 0);
}
