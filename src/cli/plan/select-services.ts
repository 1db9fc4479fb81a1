import { type NamePattern, parseNamePattern } from '../../lib/name-pattern.ts';
import type { Problem } from '../../lib/problem.ts';
import type { Snapshot } from '../facts/index.ts';
import { nearestService } from './slice-problems.ts';

export interface ServiceSelection {
  /** `key` is `ns/name`. */
  isSelected(key: string): boolean;
  /** One for each pattern that matches no Service. */
  readonly problems: readonly Problem[];
}

/** Selects Services by patterns, see `parseNamePattern`. Without patterns, all Services are selected. */
export function selectServices(texts: readonly string[], snapshot: Snapshot): ServiceSelection {
  if (texts.length === 0) return { isSelected: () => true, problems: [] };
  const keys = [...snapshot.services.keys()];
  const patterns = texts.map(text => ({ where: `--service ${text}`, ...parseNamePattern(text) }));
  return {
    isSelected: key => patterns.some(pattern => pattern.matches(key)),
    problems: patterns
      .filter(pattern => !keys.some(key => pattern.matches(key)))
      .map(pattern => ({ where: pattern.where, message: noMatch(pattern, snapshot) })),
  };
}

function noMatch({ text, isExact }: NamePattern, snapshot: Snapshot): string {
  const known = snapshot.problems.some(({ object }) => object === `Service ${text}`);
  if (known) return `Service ${text} cannot be used, because of the problem above`;
  const other = isExact ? nearestService(text, snapshot) : undefined;
  const message = `no Service of ${snapshot.name} matches ${text}`;
  return other === undefined ? message : `${message}: did you mean ${other}?`;
}
