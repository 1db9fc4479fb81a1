/**
 * Flags with pflag's rules: `--name=value`, `--name value`, `-o value`, `-o=value`, `-ovalue`; a bool without a value
 * means true; `_` in a name reads as `-`; `--` ends them.
 */
export interface FlagSpec {
  readonly name: string;
  readonly shorthand?: string;
  readonly type: 'bool' | 'string' | 'stringSlice';
  /** For the help: what to write for the value. */
  readonly value?: string;
  readonly usage: string;
}

export type FlagValues = ReadonlyMap<string, boolean | string | readonly string[]>;

export interface ParsedFlags {
  readonly values: FlagValues;
  readonly positional: readonly string[];
}

export class FlagError extends Error {
  override readonly name = 'FlagError';
}

export function parseFlags(specs: readonly FlagSpec[], args: readonly string[]): ParsedFlags {
  const values = new Map<string, boolean | string | readonly string[]>();
  const positional: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === '--') {
      positional.push(...rest.splice(0));
    } else if (arg.startsWith('-') && arg !== '-') {
      const { spec, inline } = findFlag(specs, arg);
      const text = inline ?? (spec.type === 'bool' ? 'true' : rest.shift());
      if (text === undefined) throw new FlagError(`flag needs an argument: ${arg}`);
      values.set(spec.name, readValue(spec, text, values.get(spec.name)));
    } else {
      positional.push(arg);
    }
  }
  return { values, positional };
}

export function boolFlag(values: FlagValues, name: string): boolean {
  return values.get(name) === true;
}

export function stringFlag(values: FlagValues, name: string): string | undefined {
  const value = values.get(name);
  return typeof value === 'string' ? value : undefined;
}

export function listFlag(values: FlagValues, name: string): readonly string[] {
  const value = values.get(name);
  return Array.isArray(value) ? value : [];
}

/** The flags as a help text, one a line. */
export function describeFlags(specs: readonly FlagSpec[]): string {
  const left = specs.map(({ name, shorthand, value }) => {
    const dash = shorthand ? `-${shorthand}, ` : '    ';
    return `  ${dash}--${name}${value ? ` ${value}` : ''}`;
  });
  const width = Math.max(...left.map(({ length }) => length)) + 3;
  return specs.map(({ usage }, i) => `${(left[i] ?? '').padEnd(width)}${usage}`).join('\n');
}

function findFlag(specs: readonly FlagSpec[], arg: string): { spec: FlagSpec; inline: string | undefined } {
  if (!arg.startsWith('--')) return findShorthand(specs, arg);
  const equals = arg.indexOf('=');
  const name = (equals < 0 ? arg.slice(2) : arg.slice(2, equals)).replaceAll('_', '-');
  const spec = specs.find(flag => flag.name === name);
  if (!spec) throw new FlagError(`unknown flag: --${name}`);
  return { spec, inline: equals < 0 ? undefined : arg.slice(equals + 1) };
}

function findShorthand(specs: readonly FlagSpec[], arg: string): { spec: FlagSpec; inline: string | undefined } {
  const letter = arg[1];
  const spec = specs.find(({ shorthand }) => shorthand === letter);
  if (!spec) throw new FlagError(`unknown shorthand flag: '${letter}' in ${arg}`);
  const attached = arg.slice(2);
  return { spec, inline: attached === '' ? undefined : attached.replace(/^=/, '') };
}

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

function readValue(
  spec: FlagSpec,
  text: string,
  before: boolean | string | readonly string[] | undefined,
): boolean | string | readonly string[] {
  switch (spec.type) {
    case 'string':
      return text;
    case 'stringSlice':
      return [...(Array.isArray(before) ? before : []), ...(text === '' ? [] : text.split(','))];
    case 'bool':
      if (TRUE.includes(text)) return true;
      if (FALSE.includes(text)) return false;
      throw new FlagError(
        `invalid argument ${JSON.stringify(text)} for "--${spec.name}" flag: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`,
      );
  }
}
