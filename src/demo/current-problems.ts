import type { Problem } from '../lib/problem.ts';

/** The texts of all problems that still exist. There is one for each subject: a file, an object or an operation. */
export class CurrentProblems {
  readonly #texts = new Map<string, string>();

  get texts(): readonly string[] {
    return [...this.#texts.values()];
  }

  /** Replaces the former problem of the subject. */
  set(subject: string, text: string): void {
    this.#texts.set(subject, text);
  }

  clear(subject: string): void {
    this.#texts.delete(subject);
  }

  /** Adds a problem of a file, or of an object that was read from one. */
  addProblem({ where, object, field, message }: Problem): void {
    const text = [where, object, field && `${field} ${message}`].filter(Boolean).join(': ');
    this.set(where === undefined ? (object ?? '') : fileOf(where), field ? text : `${text}: ${message}`);
  }
}

/** `web.yaml:12:3` is a place in web.yaml. */
function fileOf(where: string): string {
  return where.replace(/:\d+(:\d+)?$/, '');
}
