/** The way to a field: `['spec', 'ports', 1, 'port']`. */
export type FieldPath = readonly (string | number)[];

/** A field whose value cannot be used. */
export interface FieldProblem {
  /** `spec.ports[1].port`; empty for the object as a whole. */
  readonly field: string;
  readonly path: FieldPath;
  /** What was found and what to do. */
  readonly message: string;
}

export function fieldProblem(path: FieldPath, message: string): FieldProblem {
  return { field: formatField(path), path, message };
}

function formatField(path: FieldPath): string {
  return path.reduce<string>((field, step) => {
    if (typeof step === 'number') return `${field}[${step}]`;
    if (!/^\w+$/.test(step)) return `${field}[${JSON.stringify(step)}]`;
    return field === '' ? step : `${field}.${step}`;
  }, '');
}

const LONGEST_QUOTE = 60;

/** What was found, in words: `the number 80`, `a list`. */
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
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
}
