import type { Endpoint } from '../../../model/index.ts';
import type { Balance } from '../../../plan/index.ts';
import { chance, probability } from './probability.ts';
import type { MachineOptions } from './rule-options.ts';

/**
 * The endpoints that get new connections. Those without weight get none, unless all are without: a Service with
 * endpoints must not go without. Returns the list itself if all get some.
 */
export function usedEndpoints(endpoints: readonly Endpoint[], balance: Balance | undefined): readonly Endpoint[] {
  const weights = balance?.weights;
  if (!weights) return endpoints;
  const used = endpoints.filter(({ text }) => weights.get(text) !== 0);
  return used.length === 0 ? endpoints : used;
}

/**
 * Returns the match of the rule of each endpoint, by its place in the chain, with a space before it. `used`: all
 * endpoints of the chain. The last rule takes the rest.
 */
export function matchesOf(
  used: readonly Endpoint[],
  balance: Balance | undefined,
  { keepsTurns }: Pick<MachineOptions, 'keepsTurns'>,
): (place: number) => string {
  const chances = balance?.weights && unequalChances(used, balance.weights);
  const match = keepsTurns && balance?.algorithm === 'round-robin' && !chances ? turnMatch : randomMatch;
  return place => (place === used.length - 1 ? '' : match(used.length - place, chances?.[place]));
}

/** The chance of each endpoint among those that are left. Undefined if all weigh the same. */
function unequalChances(
  used: readonly Endpoint[],
  weights: ReadonlyMap<string, number>,
): readonly string[] | undefined {
  const all = used.map(({ text }) => weights.get(text) ?? 1);
  if (new Set(all).size < 2) return undefined;
  let left = all.reduce((sum, weight) => sum + weight, 0);
  return all.map(weight => {
    const own = chance(weight, left);
    left -= weight;
    return own;
  });
}

function randomMatch(left: number, chance = probability(left)): string {
  return ` -m statistic --mode random --probability ${chance}`;
}

/**
 * A rule sees only what the rules before it let pass, and counts for itself. So rules that take every third, every
 * second and every connection take turns.
 */
function turnMatch(left: number): string {
  return ` -m statistic --mode nth --every ${left} --packet 0`;
}
