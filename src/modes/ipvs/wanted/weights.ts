import type { Endpoint } from '../../../model/index.ts';
import type { Balance } from '../../../plan/index.ts';

/** The weight of real servers that accept new connections, if all weigh the same. */
export const WEIGHT = 1;
/** The kernel takes whole numbers. Weights with decimals, as those of slow start, become hundredths. */
const PARTS = 100;

/** The weights of real servers, by text of the endpoint. Undefined: all have `WEIGHT`. */
export type RealServerWeights = ReadonlyMap<string, number> | undefined;

/**
 * Undefined if all endpoints of the list weigh the same. That is also so if all have weight 0: a Service with endpoints
 * must not go without.
 */
export function weightsOf(endpoints: readonly Endpoint[], balance: Balance | undefined): RealServerWeights {
  const planned = balance?.weights;
  if (!planned) return undefined;
  const weights = endpoints.map(({ text }): [string, number] => [text, planned.get(text) ?? 1]);
  if (weights.every(([, weight]) => weight === weights[0]?.[1])) return undefined;
  const areWhole = weights.every(([, weight]) => Number.isInteger(weight));
  return new Map(areWhole ? weights : weights.map(([text, weight]) => [text, hundredths(weight)]));
}

/** What has a weight must not lose it by rounding. */
function hundredths(weight: number): number {
  return weight === 0 ? 0 : Math.max(1, Math.round(weight * PARTS));
}

export function weightOf({ text }: Endpoint, weights: RealServerWeights): number {
  return weights?.get(text) ?? WEIGHT;
}
