import { intern } from '../lib/intern.ts';
import { describeValue, type FieldProblem, fieldProblem } from './field-problem.ts';

/** A map of parsed JSON or YAML. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The empty list that all objects share. */
export const NONE: readonly never[] = Object.freeze([]);
const NO_FIELDS: Fields = Object.freeze({});

/**
 * Reads typed fields out of parsed values and collects what is wrong with them, so that all problems of an object are
 * told at once. A field that is absent or null is undefined (lists: empty). The path to the field is only spelt out
 * when there is a problem: hundreds of thousands of objects have none. Callers look fields up by name themselves
 * (`reader.string(spec.type, 'type')`), which is several times faster than a look-up by key in here.
 */
export class FieldReader {
  readonly problems: FieldProblem[] = [];
  readonly #path: (string | number)[] = [];

  problem(key: string, message: string): void {
    this.problems.push(fieldProblem([...this.#path, key], message));
  }

  string(found: unknown, key: string): string | undefined {
    const value = found ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    this.problem(key, wantsText(value));
    return undefined;
  }

  /** A text that many objects repeat. */
  name(found: unknown, key: string): string | undefined {
    const value = this.string(found, key);
    return value === undefined ? undefined : intern(value);
  }

  integer(found: unknown, key: string, min: number, max: number): number | undefined {
    const value = found ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    const quoted = typeof value === 'string' && /^[0-9]+$/.test(value);
    const advice = quoted ? 'remove the quotes' : 'correct it';
    this.problem(key, `is ${describeValue(value)}, but must be a whole number from ${min} to ${max}: ${advice}`);
    return undefined;
  }

  boolean(found: unknown, key: string): boolean | undefined {
    const value = found ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    this.problem(key, `is ${describeValue(value)}, but must be true or false, without quotes`);
    return undefined;
  }

  /** Reads the map at `key`; an absent one reads as empty, so that what it must hold is missed. */
  map<T>(found: unknown, key: string, read: (reader: FieldReader, fields: Fields) => T): T {
    const value = found ?? NO_FIELDS;
    const usable = isFields(value);
    if (!usable) this.problem(key, `is ${describeValue(value)}, but must be a map`);
    this.#path.push(key);
    const known = this.problems.length;
    const result = read(this, usable ? value : NO_FIELDS);
    // What an unusable map lacks is no second problem.
    if (!usable) this.problems.length = known;
    this.#path.pop();
    return result;
  }

  /** Reads a list of maps. */
  maps<T>(found: unknown, key: string, read: (reader: FieldReader, fields: Fields) => T): readonly T[] {
    const list = this.#list(found, key);
    if (list.length === 0) return NONE;
    const result: T[] = [];
    this.#path.push(key, 0);
    const last = this.#path.length - 1;
    for (let i = 0; i < list.length; i++) {
      const item = list[i];
      this.#path[last] = i;
      if (isFields(item)) result.push(read(this, item));
      else this.#problemHere(`is ${describeValue(item)}, but must be a map`);
    }
    this.#path.length = last - 1;
    return result;
  }

  strings(found: unknown, key: string): readonly string[] {
    const list = this.#list(found, key);
    if (list.length === 0) return NONE;
    const result: string[] = [];
    for (let i = 0; i < list.length; i++) {
      const item = list[i];
      if (typeof item === 'string') result.push(item);
      else this.problems.push(fieldProblem([...this.#path, key, i], wantsText(item)));
    }
    return result;
  }

  #list(found: unknown, key: string): readonly unknown[] {
    const value = found ?? NONE;
    if (Array.isArray(value)) return value;
    this.problem(key, `is ${describeValue(value)}, but must be a list`);
    return NONE;
  }

  #problemHere(message: string): void {
    this.problems.push(fieldProblem([...this.#path], message));
  }
}

function wantsText(value: unknown): string {
  const scalar = typeof value === 'number' || typeof value === 'boolean';
  return `is ${describeValue(value)}, but must be text${scalar ? ': put it in quotes' : ''}`;
}
