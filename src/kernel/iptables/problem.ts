import type { ProgramFailure } from '../programs/index.ts';

/**
 * What an iptables program's end means.
 *
 * parameter   it did not understand the command or the input (exit status 2)
 * version     program and kernel do not fit, a table or the right to use it is missing (3)
 * lock        another program had the xtables lock for too long (4)
 * resource    the kernel refused: busy, changed meanwhile, out of memory, not permitted (4)
 * other       anything else that it says no to, such as a chain or rule that is missing, there already or not empty (1)
 * missing     the program is not installed
 * timed-out   it hung and was killed
 * crashed     it ended by a signal, said too much or could not be started
 */
export type Problem = 'parameter' | 'version' | 'lock' | 'resource' | 'other' | 'missing' | 'timed-out' | 'crashed';

export const OTHER_PROBLEM = 1;

const NOT_FOUND = [
  'No chain/target/match by that name',
  'No such file or directory',
  'does a matching rule exist',
  'does not exist',
];

export function problemOf(failure: ProgramFailure, stderr: string): Problem {
  switch (failure.kind) {
    case 'missing':
      return 'missing';
    case 'timed-out':
      return 'timed-out';
    case 'signal':
    case 'not-started':
    case 'too-much-output':
      return 'crashed';
    case 'status':
      return problemOfStatus(failure.status, stderr);
  }
}

function problemOfStatus(status: number, stderr: string): Problem {
  if (status === 2) return 'parameter';
  if (status === 3) return 'version';
  if (status !== 4) return 'other';
  return stderr.includes('xtables lock') ? 'lock' : 'resource';
}

/** Whether the program's words say that a chain, a rule or the target of a rule is not there. */
export function saysNotFound(stderr: string): boolean {
  return NOT_FOUND.some(words => stderr.includes(words));
}

export function saysExists(stderr: string): boolean {
  return stderr.includes('already exists');
}
