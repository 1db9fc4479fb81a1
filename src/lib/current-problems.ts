import type { Problem } from './problem.ts';

/** All problems that still exist: the last one of each subject. A subject is a file, an object or an operation. */
export class CurrentProblems {
  readonly #problems = new Map<string, Problem>();
  #all: readonly Problem[] | undefined;

  /** The same list until a problem comes, changes or goes. */
  get all(): readonly Problem[] {
    this.#all ??= [...this.#problems.values()];
    return this.#all;
  }

  get size(): number {
    return this.#problems.size;
  }

  /** Adds a problem of a file, or of an object. */
  add(problem: Problem): void {
    const { where, object = '' } = problem;
    this.set(where === undefined ? object : fileOf(where), problem);
  }

  /** Replaces the former problem of the subject. */
  set(subject: string, problem: Problem): void {
    this.#problems.set(subject, problem);
    this.#all = undefined;
  }

  clear(subject: string): void {
    if (this.#problems.delete(subject)) this.#all = undefined;
  }
}

/** `web.yaml:12:3` is a place in web.yaml. */
function fileOf(where: string): string {
  return where.replace(/:\d+(:\d+)?$/, '');
}
