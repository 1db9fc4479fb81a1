import type { Problem } from '../lib/problem.ts';

/** The keys and indexes that lead to a field: `['spec', 'ports', 1, 'port']`. */
export type FieldPath = readonly (string | number)[];

/** A problem of a decoded object. The path lets a reader of files find the line of the field. */
export interface FieldProblem extends Problem {
  /** Empty for the object as a whole. */
  readonly path: FieldPath;
}

export function fieldProblem(path: FieldPath, message: string): FieldProblem {
  return { field: path.length === 0 ? undefined : formatField(path), path, message };
}

function formatField(path: FieldPath): string {
  return path.reduce<string>((field, step) => {
    if (typeof step === 'number') return `${field}[${step}]`;
    if (!/^\w+$/.test(step)) return `${field}[${JSON.stringify(step)}]`;
    return field === '' ? step : `${field}.${step}`;
  }, '');
}

const MAX_QUOTE = 60;

/** Describes a value in a message: `the number 80`, `a list`. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return value === '' ? 'an empty text' : `the text ${quote(value)}`;
    case 'number':
    case 'bigint':
      return `the number ${value}`;
    case 'boolean':
      return `${value}`;
    case 'object':
      return 'a map';
    default:
      return 'nothing';
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text);
}
