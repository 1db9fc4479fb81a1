/** The match `statistic` of the kernel has no finer steps. */
const MIN_CHANCE = 1 / 2 ** 31;

/**
 * 1/n with ten decimals, for the match `statistic`. Go rounds ties to even and JavaScript away from zero; 1/2048 is the
 * only tie among the numbers of endpoints that there can be.
 */
export function probability(n: number): string {
  return n === 2048 ? '0.0004882812' : (1 / n).toFixed(10);
}

/** The chance of a weight among all weights that are left, with ten decimals. */
export function chance(weight: number, left: number): string {
  return Math.max(MIN_CHANCE, weight / left).toFixed(10);
}
