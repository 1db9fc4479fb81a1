import type { Impairments } from '../world/impairments.ts';
import type { Violation } from './violation.ts';

/** What the holder of long connections reported: `lost ADDRESS HEARD-AT REASON`. Only the mode can excuse it. */
export function judgeHeldConnection(
  client: string,
  line: string,
  impairments: Impairments,
  now: number,
): Violation | undefined {
  const [, heardAt] = /^lost \S+ (\d+) /.exec(line) ?? [];
  if (heardAt === undefined || impairments.overlaps('connections', Number(heardAt), now)) return undefined;
  return { invariant: 'established connections live', facts: `${client}: ${line}` };
}
