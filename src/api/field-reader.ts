import { intern } from '../lib/intern.ts';
import { isRecord } from '../lib/is-record.ts';
import { NONE } from '../lib/none.ts';
import { describeValue, type FieldProblem, fieldProblem } from './field-problem.ts';

/** A map of parsed JSON or YAML. */
export type Fields = Readonly<Record<string, unknown>>;

const NO_FIELDS: Fields = Object.freeze({});

/**
 * Reads typed fields from parsed values and collects all problems of an object. A field that is absent or null is
 * undefined, a list is empty then. The path of a field is made only for a problem, because hundreds of thousands of
 * objects have none. Callers look fields up by name (`reader.string(spec.type, 'type')`): that is several times faster
 * than a look-up by key in this class.
 */
export class FieldReader {
  readonly problems: FieldProblem[] = [];
  readonly #path: (string | number)[] = [];

  addProblem(key: string, message: string): void {
    this.problems.push(fieldProblem([...this.#path, key], message));
  }

  string(found: unknown, key: string): string | undefined {
    const value = found ?? undefined;
    if (value === undefined || typeof value === 'string') return value;
    this.addProblem(key, mustBeText(value));
    return undefined;
  }

  /** Reads a text that many objects repeat, and shares it between them. */
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
    this.addProblem(key, `is ${describeValue(value)}, but must be a whole number from ${min} to ${max}: ${advice}`);
    return undefined;
  }

  boolean(found: unknown, key: string): boolean | undefined {
    const value = found ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    this.addProblem(key, `is ${describeValue(value)}, but must be true or false, without quotes`);
    return undefined;
  }

  /** Reads a map. An absent map is read as an empty one, so that its required fields are reported as missing. */
  map<T>(found: unknown, key: string, read: (reader: FieldReader, fields: Fields) => T): T {
    const value = found ?? NO_FIELDS;
    const usable = isRecord(value);
    if (!usable) this.addProblem(key, `is ${describeValue(value)}, but must be a map`);
    this.#path.push(key);
    const known = this.problems.length;
    const result = read(this, usable ? value : NO_FIELDS);
    // The fields that an unusable map lacks are no further problems.
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
      if (isRecord(item)) result.push(read(this, item));
      else this.#addProblemHere(`is ${describeValue(item)}, but must be a map`);
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
      else this.problems.push(fieldProblem([...this.#path, key, i], mustBeText(item)));
    }
    return result;
  }

  #list(found: unknown, key: string): readonly unknown[] {
    const value = found ?? NONE;
    if (Array.isArray(value)) return value;
    this.addProblem(key, `is ${describeValue(value)}, but must be a list`);
    return NONE;
  }

  #addProblemHere(message: string): void {
    this.problems.push(fieldProblem([...this.#path], message));
  }
}

function mustBeText(value: unknown): string {
  const scalar = typeof value === 'number' || typeof value === 'boolean';
  return `is ${describeValue(value)}, but must be text${scalar ? ': put it in quotes' : ''}`;
}
