import type { ProgramExit } from '../../control-plane/program.ts';
import type { Violation } from './violation.ts';

/** The proxy may end only because of a fault. */
export function judgeEnd({ status, signal }: ProgramExit, isExpected: boolean): Violation | undefined {
  if (isExpected) return undefined;
  return {
    invariant: 'the proxy ends only because of a fault',
    facts: `it ended with ${signal ?? `status ${status}`}`,
  };
}
