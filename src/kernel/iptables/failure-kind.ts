import type { ProgramFailure } from '../programs/index.ts';

/**
 * Why an iptables program failed. The first five are exit statuses; xtables.h calls them PARAMETER_PROBLEM and so on.
 *
 * parameter   The program does not understand the command or the input (exit status 2).
 * version     Program and kernel do not fit, or a table or the right to use it is missing (3).
 * lock        Another program held the xtables lock for too long (4).
 * resource    The kernel refused: busy, changed by another program, out of memory, or not permitted (4).
 * other       Any other refusal, such as a chain or rule that is missing, exists already or is not empty (1).
 * missing     The program is not installed.
 * timed-out   The program did not end in time and was killed.
 * crashed     A signal ended the program, it wrote too much, or it could not be started.
 */
export type IptablesFailureKind =
  | 'parameter'
  | 'version'
  | 'lock'
  | 'resource'
  | 'other'
  | 'missing'
  | 'timed-out'
  | 'crashed';

/** The exit status of the failure kind `other`. */
export const OTHER_PROBLEM = 1;

const NOT_FOUND = [
  'No chain/target/match by that name',
  'No such file or directory',
  'does a matching rule exist',
  'does not exist',
];

export function failureKind(failure: ProgramFailure, stderr: string): IptablesFailureKind {
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
      return kindOfStatus(failure.status, stderr);
  }
}

function kindOfStatus(status: number, stderr: string): IptablesFailureKind {
  if (status === 2) return 'parameter';
  if (status === 3) return 'version';
  if (status !== 4) return 'other';
  return stderr.includes('xtables lock') ? 'lock' : 'resource';
}

/** Whether the program's message says that a chain, a rule or the target of a rule does not exist. */
export function saysNotFound(stderr: string): boolean {
  return NOT_FOUND.some(words => stderr.includes(words));
}

export function saysExists(stderr: string): boolean {
  return stderr.includes('already exists');
}
