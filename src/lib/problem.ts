/** A fault in the input of the proxy. It concerns one object or place. The proxy uses everything else. */
export interface Problem {
  /** The place: a file with line and column, or an API path. */
  readonly where?: string | undefined;
  /** The object: `Service default/web`. */
  readonly object?: string | undefined;
  /** The field of the object: `spec.ports[0].port`. */
  readonly field?: string | undefined;
  /** What is wrong, and what to do about it. */
  readonly message: string;
}

export type ReportProblem = (problem: Problem) => void;
