import { errorText } from '../lib/error-text.ts';
import type { Command, Io } from './command.ts';
import { FlagError } from './flags.ts';
import { planCommand } from './plan/command.ts';
import { VERSION } from './version.ts';

const COMMANDS: readonly Command[] = [planCommand];

const HELP = `Pointsman, a kube-proxy: makes Kubernetes Services work on a node.

Usage:
  kube-proxy COMMAND [flags]

Commands:
${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`).join('\n')}

  kube-proxy COMMAND --help   flags of a command
  kube-proxy --version        the version
`;

/** Runs the command line and returns the exit status. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  const [first, ...rest] = args;
  if (first === undefined || first === '-h' || first === '--help' || first === 'help') {
    io.stdout.write(HELP);
    return 0;
  }
  if (first === '--version' || first === '--version=true') {
    io.stdout.write(`Pointsman ${VERSION}\n`);
    return 0;
  }
  const command = COMMANDS.find(({ name }) => name === first);
  try {
    if (!command)
      throw new FlagError(`unknown ${first.startsWith('-') ? 'flag' : 'command'}: ${first}; see kube-proxy --help`);
    return await command.run(rest, io);
  } catch (error) {
    io.stderr.write(`Error: ${errorText(error)}\n`);
    return 1;
  }
}
