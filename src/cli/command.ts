import { goQuote } from '../lib/go-quote.ts';
import { bool, FlagError } from './flags/index.ts';

interface Output {
  write(text: string): unknown;
  on?(event: 'error', listener: (error: Error) => void): unknown;
  isTTY?: boolean;
}

/** The streams and variables of a command. Tests replace them. */
export interface Io {
  readonly stdout: Output & { columns?: number; rows?: number };
  readonly stderr: Output;
  readonly env: NodeJS.ProcessEnv;
}

/** A sub-command of kube-proxy. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Returns the exit status. */
  run(args: readonly string[], io: Io): Promise<number>;
}

export const HELP_FLAG = { help: { type: bool, default: false, shorthand: 'h', usage: 'print this help' } };

/** Throws a FlagError if there are arguments. Ignores empty ones, because scripts pass unset variables. */
export function refuseArguments(command: string, positional: readonly string[]): void {
  if (positional.every(argument => argument === '')) return;
  throw new FlagError(`"${command}" does not take any arguments, got [${positional.map(goQuote).join(' ')}]`);
}
