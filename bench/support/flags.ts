import { parseSize, type Size } from './cluster.ts';

/** Flags of every bench. `--task` and `--role` are for the processes that a bench starts itself. */
export const COMMON_FLAGS = {
  json: { type: 'boolean' },
  task: { type: 'string' },
  role: { type: 'string' },
} as const;

/** `1000x5,5000x5` */
export function parseSizes(text: string): readonly Size[] {
  return text.split(',').map(parseSize);
}
