import type { Problem } from '../../lib/problem.ts';

/** A problem at an API path: that of an object, or that of the resource if the object has no name. */
export type ApiProblem = Problem & { readonly where: string };

/**
 * Receives the problems of a resource's watch and of its objects. The informer reports a problem once. It reports the
 * same problem again only if that problem was over in between.
 */
export interface InformerReporter {
  /** The informer cannot list or watch the resource, and retries. The objects that it has stay in use. */
  watchFailed(problem: ApiProblem): void;
  /**
   * The API server does not have an optional resource, or does not allow to read it. The informer goes on without it,
   * and retries.
   */
  optionalUnavailable(problem: ApiProblem): void;
  /** No request failed, but the API server sends nothing. */
  watchStalled(problem: ApiProblem): void;
  /** The problem of this resource's watch is over. */
  watchRecovered(path: string): void;
  /** The informer cannot use an object. The last good version of the object stays in use. */
  objectUnusable(problem: ApiProblem): void;
  /** The object is good again, or gone. */
  objectRecovered(path: string): void;
  /** The API server sent something for this resource. */
  dataReceived?(path: string): void;
}
