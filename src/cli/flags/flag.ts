/** How the values of a flag are read from the command line and written. */
export interface FlagType<T> {
  /** What the help writes for a value. Empty where none is needed. */
  readonly word: string;
  /** Whether a text default is shown in quotes. */
  readonly quotesDefault?: boolean;
  /** Stands for the value if there is none after an equals sign; the next argument is never the value then. */
  readonly bare?: string;
  /**
   * Reads one occurrence. `current` is the default, or what former occurrences said, which `isFirst` tells. Throws an
   * Error whose message says what is wrong with the text.
   */
  parse(text: string, current: T, isFirst: boolean): T;
  /** As logs and /flagz show it. */
  format(value: T): string;
}

export interface Flag<T> {
  readonly type: FlagType<T>;
  readonly default: T;
  readonly usage: string;
  readonly shorthand?: string;
  /** For the help, if it says more than the type's word. */
  readonly word?: string;
  /** What to use instead. The flag works, is not in the help, and using it is answered with this. */
  readonly deprecated?: string;
}

/** Flags by their name. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

export type FlagValues<Table extends FlagTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Flag<infer T> ? T : never;
};

/** A flag with the text of its value. */
export interface FlagText {
  readonly name: string;
  readonly value: string;
}

/** A command line that does not follow the rules. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}
