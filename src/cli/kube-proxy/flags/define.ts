import type { Flag, FlagType } from '../../flags/index.ts';

export function flag<T>(
  type: FlagType<T>,
  value: T,
  usage: string,
  more: Pick<Flag<T>, 'shorthand' | 'deprecated'> = {},
): Flag<T> {
  return { type, default: value, usage, ...more };
}
