/** A fault in the input of the proxy. It concerns one object or place. The proxy uses everything else. */
export interface Problem {
  /** The place: a file with line and column, or an API path. */
  readonly where?: string | undefined;
  /** The kind of the object, if it is known: `Service`. */
  readonly kind?: string | undefined;
  /** What sort of fault it is. The default is `invalid`. */
  readonly reason?: ProblemReason | undefined;
  /** The object: `Service default/web`. */
  readonly object?: string | undefined;
  /** The field of the object: `spec.ports[0].port`. */
  readonly field?: string | undefined;
  /** What is wrong, and what to do about it. */
  readonly message: string;
}

/**
 * invalid     a field has a value that the proxy cannot use
 * doubtful    an API server would refuse or drop the field, or fill it in; the object is used
 * unreadable  a file or a folder cannot be read or parsed
 * duplicate   another manifest has the same object
 * conflict    another Service owns the address
 * unavailable the mode of the proxy cannot do what the object asks for
 * internal    the proxy failed to process the object
 */
export type ProblemReason = (typeof PROBLEM_REASONS)[number];

export const PROBLEM_REASONS = [
  'invalid',
  'doubtful',
  'unreadable',
  'duplicate',
  'conflict',
  'unavailable',
  'internal',
] as const;

export type ReportProblem = (problem: Problem) => void;
