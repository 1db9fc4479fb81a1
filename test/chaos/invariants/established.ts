import type { Violation } from './violation.ts';

/** What the holder of long connections reported: `lost ADDRESS REASON`, or `alive COUNT`. */
export function judgeHeldConnection(client: string, line: string): Violation | undefined {
  if (!line.startsWith('lost ')) return undefined;
  return { invariant: 'established connections live', facts: `${client}: ${line}` };
}
