/** Reads the values of a flag from the command line, and writes them. */
export interface FlagType<T> {
  /** Stands for the value in the help. Empty if the flag needs no value. */
  readonly word: string;
  /** The help shows the default in quotes. */
  readonly quotesDefault?: boolean;
  /** The value of a flag without an equals sign. The next argument is then never the value. */
  readonly bare?: string;
  /**
   * Reads one occurrence of the flag. `current` is the default at the first occurrence, and later the value of the
   * former occurrences. Throws an Error that explains what is wrong with the text.
   */
  parse(text: string, current: T, isFirst: boolean): T;
  /** Returns the text for the log and /flagz. */
  format(value: T): string;
}

export interface Flag<T> {
  readonly type: FlagType<T>;
  readonly default: T;
  readonly usage: string;
  readonly shorthand?: string;
  /** Replaces the word of the type in the help. */
  readonly word?: string;
  /** All values that the flag accepts, for the completion of a shell. A flag of the type `strings` takes several. */
  readonly words?: readonly string[];
  /** A notice that names the replacement. A deprecated flag works, but the help does not list it. */
  readonly deprecated?: string;
}

export function flag<T>(
  type: FlagType<T>,
  value: T,
  usage: string,
  more: Pick<Flag<T>, 'shorthand' | 'deprecated' | 'words'> = {},
): Flag<T> {
  return { type, default: value, usage, ...more };
}

/** Flags by their name. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

export type FlagValues<Table extends FlagTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Flag<infer T> ? T : never;
};

/** The name of a flag and the text of its value. */
export interface FlagText {
  readonly name: string;
  readonly value: string;
}

/** An error in the command line. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
  /** What the operator probably meant. */
  readonly suggestion: string | undefined;

  constructor(message: string, suggestion?: string) {
    super(message);
    this.suggestion = suggestion;
  }
}
