import { goQuote } from '../lib/go-quote.ts';
import { FlagError } from './flags/index.ts';

/** Empty arguments are tolerated, for scripts that hand on unset variables. */
export function refuseArguments(command: string, positional: readonly string[]): void {
  if (positional.every(argument => argument === '')) return;
  throw new FlagError(`"${command}" does not take any arguments, got [${positional.map(goQuote).join(' ')}]`);
}
