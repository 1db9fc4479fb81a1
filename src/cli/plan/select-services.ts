import type { Problem } from '../../lib/problem.ts';
import type { Snapshot } from '../facts/index.ts';
import { nearestService } from './slice-problems.ts';

const DEFAULT_NAMESPACE = 'default';

export interface ServiceSelection {
  /** `key` is `ns/name`. */
  isSelected(key: string): boolean;
  /** One for each pattern that matches no Service. */
  readonly problems: readonly Problem[];
}

/**
 * Selects Services by patterns: `ns/name`, with `*` for any letters and `?` for one. As with kubectl, a pattern without
 * a namespace is for the namespace default. Without patterns, all Services are selected.
 */
export function selectServices(patterns: readonly string[], snapshot: Snapshot): ServiceSelection {
  if (patterns.length === 0) return { isSelected: () => true, problems: [] };
  const keys = [...snapshot.services.keys()];
  const tests = patterns.map(pattern => ({ pattern, expression: expressionOf(pattern) }));
  return {
    isSelected: key => tests.some(({ expression }) => expression.test(key)),
    problems: tests
      .filter(({ expression }) => !keys.some(key => expression.test(key)))
      .map(({ pattern }) => ({ where: `--service ${pattern}`, message: noMatch(pattern, snapshot) })),
  };
}

function noMatch(pattern: string, snapshot: Snapshot): string {
  const key = withNamespace(pattern);
  const known = snapshot.problems.some(({ object }) => object === `Service ${key}`);
  if (known) return `Service ${key} cannot be used, because of the problem above`;
  const other = /[*?]/.test(pattern) ? undefined : nearestService(key, snapshot);
  const message = `no Service of ${snapshot.name} matches ${key}`;
  return other === undefined ? message : `${message}: did you mean ${other}?`;
}

function withNamespace(pattern: string): string {
  return pattern.includes('/') ? pattern : `${DEFAULT_NAMESPACE}/${pattern}`;
}

function expressionOf(pattern: string): RegExp {
  const escaped = withNamespace(pattern).replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '[^/]*').replaceAll('?', '[^/]')}$`);
}
