import { errorText } from '../../lib/error-text.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { nearest } from '../../lib/nearest.ts';
import { type Flag, FlagError, type FlagTable, type FlagText, type FlagValues } from './flag.ts';

export interface ParsedFlags<Table extends FlagTable> {
  readonly values: FlagValues<Table>;
  /** Names of the flags that are on the command line. */
  readonly changed: ReadonlySet<keyof Table & string>;
  readonly positional: readonly string[];
  /** A line for each use of a deprecated flag. */
  readonly notices: readonly string[];
}

/**
 * Reads flags by the rules of pflag. The forms are `--name=value`, `--name value`, `-o value`, `-o=value` and
 * `-ovalue`. Letters without values can share one dash. `_` in a name reads as `-`. The argument `--` ends the flags.
 * Throws a FlagError.
 */
export function parseFlags<Table extends FlagTable>(table: Table, args: readonly string[]): ParsedFlags<Table> {
  const parser = new Parser(table, args);
  parser.run();
  return {
    values: Object.fromEntries(parser.values) as FlagValues<Table>,
    changed: parser.changed,
    positional: parser.positional,
    notices: parser.notices,
  };
}

/** Returns all flags with their values, sorted by name. */
export function flagTexts<Table extends FlagTable>(table: Table, values: FlagValues<Table>): readonly FlagText[] {
  return Object.keys(table)
    .sort()
    .map(name => ({ name, value: table[name]?.type.format(values[name]) ?? '' }));
}

/** pflag shows one byte of a letter, not a character. */
function firstByte(text: string): string {
  return Buffer.from(text).subarray(0, 1).toString('latin1');
}

class Parser {
  readonly values: Map<string, unknown>;
  readonly changed = new Set<string>();
  readonly positional: string[] = [];
  readonly notices: string[] = [];
  readonly #table: FlagTable;
  readonly #rest: string[];

  constructor(table: FlagTable, args: readonly string[]) {
    this.#table = table;
    this.#rest = [...args];
    this.values = new Map(Object.entries(table).map(([name, flag]) => [name, flag.default]));
  }

  run(): void {
    for (let arg = this.#rest.shift(); arg !== undefined; arg = this.#rest.shift()) {
      if (arg === '--') this.positional.push(...this.#rest.splice(0));
      else if (arg.startsWith('--')) this.#readLong(arg);
      else if (arg.startsWith('-') && arg !== '-') this.#readLetters(arg.slice(1));
      else this.positional.push(arg);
    }
  }

  #readLong(arg: string): void {
    if (/^--[-=]/.test(arg)) throw new FlagError(`bad flag syntax: ${arg}`);
    const equals = arg.indexOf('=');
    const written = equals < 0 ? arg.slice(2) : arg.slice(2, equals);
    const name = written.replaceAll('_', '-');
    const flag = Object.hasOwn(this.#table, name) ? this.#table[name] : undefined;
    if (!flag) throw new FlagError(`unknown flag: --${written}`, this.#nearest(name));
    const text = equals < 0 ? (flag.type.bare ?? this.#rest.shift()) : arg.slice(equals + 1);
    if (text === undefined) throw new FlagError(`flag needs an argument: --${written}`);
    this.#set(name, flag, text);
  }

  #nearest(written: string): string | undefined {
    const names = Object.entries(this.#table).flatMap(([name, { deprecated }]) => (deprecated ? [] : [name]));
    const name = nearest(written, names);
    return name && `--${name}`;
  }

  #readLetters(letters: string): void {
    for (let left = letters; left !== ''; ) left = this.#readLetter(left);
  }

  /** Reads the flag of the first letter. Returns the letters after it. */
  #readLetter(letters: string): string {
    const [name, flag] = Object.entries(this.#table).find(([, { shorthand }]) => shorthand === letters[0]) ?? [];
    if (!name || !flag) throw new FlagError(`unknown shorthand flag: '${firstByte(letters)}' in -${letters}`);
    const isAssigned = letters.length > 2 && letters[1] === '=';
    if (!isAssigned && flag.type.bare !== undefined) {
      this.#set(name, flag, flag.type.bare);
      return letters.slice(1);
    }
    const text = letters.length > 1 ? letters.slice(isAssigned ? 2 : 1) : this.#rest.shift();
    if (text === undefined) throw new FlagError(`flag needs an argument: '${letters[0]}' in -${letters}`);
    this.#set(name, flag, text);
    return '';
  }

  #set(name: string, flag: Flag<unknown>, text: string): void {
    try {
      this.values.set(name, flag.type.parse(text, this.values.get(name), !this.changed.has(name)));
    } catch (error) {
      const written = flag.shorthand ? `-${flag.shorthand}, --${name}` : `--${name}`;
      throw new FlagError(`invalid argument ${goQuote(text)} for ${goQuote(written)} flag: ${errorText(error)}`);
    }
    this.changed.add(name);
    if (flag.deprecated) this.notices.push(`Flag --${name} has been deprecated, ${flag.deprecated}\n`);
  }
}
