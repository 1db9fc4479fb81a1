import type { Problem } from '../lib/problem.ts';

/** What is wrong now, by what it is about. */
export class Problems {
  readonly #texts = new Map<string, string>();

  get texts(): readonly string[] {
    return [...this.#texts.values()];
  }

  /** Replaces what was said about the same before. */
  note(about: string, text: string): void {
    this.#texts.set(about, text);
  }

  forget(about: string): void {
    this.#texts.delete(about);
  }

  /** Something in a file, or in an object that was read from one. */
  noteInput({ where, object, field, message }: Problem): void {
    const text = [where, object, field && `${field} ${message}`].filter(Boolean).join(': ');
    this.note(where === undefined ? (object ?? '') : fileOf(where), field ? text : `${text}: ${message}`);
  }
}

/** `web.yaml:12:3` is about web.yaml. */
function fileOf(where: string): string {
  return where.replace(/:\d+(:\d+)?$/, '');
}
