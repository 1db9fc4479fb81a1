import type { Outcome, Place } from '../../../../../explain/index.ts';
import type { Way } from './model.ts';
import { outcomeText } from './words.ts';

/** Ways on which connections get the same. */
export interface WayGroup {
  readonly callers: readonly Place[];
  /** The ids of frontends. */
  readonly targets: readonly string[];
  readonly text: string;
  readonly outcome: Outcome;
}

/** One group for each different outcome. The ways are those of one caller, or those to one address. */
export function groupWays(ways: readonly Way[]): readonly WayGroup[] {
  const groups = new Map<string, Way[]>();
  for (const way of ways) {
    const text = `${way.isGuarded ? 'with an allowed source ' : ''}${outcomeText(way.outcome, way)}`;
    groups.set(text, [...(groups.get(text) ?? []), way]);
  }
  return [...groups].flatMap(([text, group]) => {
    const [first] = group;
    if (!first) return [];
    const callers = [...new Set(group.map(({ from }) => from))];
    return [{ callers, targets: [...new Set(group.map(({ to }) => to))], text, outcome: first.outcome }];
  });
}
