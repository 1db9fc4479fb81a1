import { KernelError } from '../errors.ts';

/** Why a run of a program failed. */
export type ProgramFailure =
  | { readonly kind: 'missing' }
  | { readonly kind: 'not-started'; readonly errno: string }
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'timed-out'; readonly timeoutMs: number }
  | { readonly kind: 'too-much-output'; readonly limit: number };

const LAST_LINES = 6;
const MAX_LINE = 400;

export class ProgramError extends KernelError {
  readonly failure: ProgramFailure;
  /** The end of the program's standard error. */
  readonly stderr: string;

  constructor(operation: string, failure: ProgramFailure, stderr: string) {
    super('KERNEL_PROGRAM', {
      operation,
      errno: failure.kind === 'missing' ? 'ENOENT' : failure.kind === 'not-started' ? failure.errno : undefined,
      reason: failureText(failure),
      kernelMessage: lastLines(stderr),
    });
    this.failure = failure;
    this.stderr = stderr;
  }
}

export function failureText(failure: ProgramFailure): string {
  switch (failure.kind) {
    case 'missing':
      return 'there is no such program';
    case 'not-started':
      return 'the program could not be started';
    case 'status':
      return `exit status ${failure.status}`;
    case 'signal':
      return `ended by ${failure.signal}`;
    case 'timed-out':
      return `not done after ${failure.timeoutMs / 1000} s, killed`;
    case 'too-much-output':
      return `wrote more than ${failure.limit} bytes, killed`;
  }
}

/** The last lines that are not empty, joined to one line. Undefined if there is none. */
export function lastLines(text: string): string | undefined {
  const lines = text
    .split('\n')
    .map(printable)
    .filter(line => line !== '');
  return lines.length === 0 ? undefined : lines.slice(-LAST_LINES).join(' | ');
}

function printable(line: string): string {
  return line
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, MAX_LINE);
}
