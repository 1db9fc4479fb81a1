import type { Outcome, Place } from '../../../../../explain/index.ts';
import type { Way } from './model.ts';
import { outcomeText } from './words.ts';

/** Callers that get the same. */
export interface WayGroup {
  readonly callers: readonly Place[];
  readonly text: string;
  readonly outcome: Outcome;
}

/** The ways to one address, one group for each different outcome. */
export function groupWays(ways: readonly Way[]): readonly WayGroup[] {
  const groups = new Map<string, WayGroup & { readonly callers: Place[] }>();
  for (const { from, outcome, answering } of ways) {
    const text = outcomeText(outcome, answering);
    const known = groups.get(text);
    if (known) known.callers.push(from);
    else groups.set(text, { callers: [from], text, outcome });
  }
  return [...groups.values()];
}
