import { goQuote } from '../lib/go-quote.ts';
import { nearest } from '../lib/nearest.ts';
import { bool, FlagError, type FlagTable, type ParsedFlags, parseFlags } from './flags/index.ts';
import { commandHelp, type HelpTexts, helpWidth } from './help/text.ts';

interface Output {
  write(text: string | Uint8Array): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  isTTY?: boolean;
}

/** The keyboard, or the text of a pipe. */
export interface Input extends AsyncIterable<Buffer | string> {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  on(event: 'data', listener: (data: Buffer | string) => void): unknown;
  off(event: 'data', listener: (data: Buffer | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** The streams and variables of a command. Tests replace them. */
export interface Io {
  readonly stdin?: Input;
  readonly stdout: Output & { columns?: number; rows?: number };
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
}

/** A sub-command of kube-proxy. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly flags: FlagTable;
  /** The words that may follow the command. */
  readonly words: readonly string[];
  /** Returns the help. No line of its prose is longer than the width. */
  help(width: number): string;
  /** The exit status if the command line is wrong, or if the command fails. */
  readonly errorStatus: number;
  /** Returns the exit status. */
  run(args: readonly string[], io: Io): Promise<number>;
}

export interface CommandDefinition<Table extends FlagTable> extends HelpTexts {
  readonly name: string;
  readonly summary: string;
  /** Without `--help`, which every command has. */
  readonly flags: Table;
  /** The words that may follow the command. Without them and `argument`, the command refuses arguments. */
  readonly words?: readonly string[];
  /** Any text may follow the command. This is its name in errors: `SERVICE`. */
  readonly argument?: string;
  /** The default is 1. */
  readonly errorStatus?: number;
  run(parsed: ParsedFlags<Table>, io: Io): Promise<number>;
}

const HELP_FLAG = { help: { type: bool, default: false, shorthand: 'h', usage: 'print this help' } };

export function defineCommand<Table extends FlagTable>(definition: CommandDefinition<Table>): Command {
  const { name, summary, words = [], argument, errorStatus = 1 } = definition;
  const flags = { ...definition.flags, ...HELP_FLAG };
  const help = (width: number) => commandHelp({ ...definition, flags }, width);
  return {
    name,
    summary,
    flags,
    words,
    errorStatus,
    help,
    async run(args, io) {
      const parsed = parseFlags<FlagTable>(flags, args);
      if (parsed.values.help) return print(io, help(helpWidth(io.stdout)));
      if (words.length === 0 && argument === undefined) refuseArguments(`kube-proxy ${name}`, parsed.positional);
      else if (parsed.positional.length > 1) {
        throw new FlagError(
          `"kube-proxy ${name}" takes only one argument${argument === undefined ? '' : `, ${argument}`}`,
        );
      }
      return await definition.run(parsed as ParsedFlags<Table>, io);
    },
  };
}

export function print(io: Io, text: string, status = 0): number {
  io.stdout.write(text);
  return status;
}

/**
 * Throws a FlagError if there are arguments. Ignores empty ones, because scripts pass unset variables. `known` has the
 * words that the operator may have meant.
 */
export function refuseArguments(command: string, positional: readonly string[], known: readonly string[] = []): void {
  if (positional.every(argument => argument === '')) return;
  const message = `"${command}" does not take any arguments, got [${positional.map(goQuote).join(' ')}]`;
  throw new FlagError(message, nearest(positional.find(argument => argument !== '') ?? '', known));
}

/** Returns the word if it is one of the known ones. Otherwise throws a FlagError with the nearest one. */
export function oneOf<Word extends string>(known: readonly Word[], word: string, place: string): Word {
  const found = known.find(other => other === word);
  if (found !== undefined) return found;
  const list = known.length > 1 ? `${known.slice(0, -1).join(', ')} or ${known.at(-1)}` : known.join('');
  throw new FlagError(`invalid argument ${goQuote(word)} for ${place}: must be ${list}`, nearest(word, known));
}
