import { errorText } from '../lib/error-text.ts';
import { cleanupCommand } from './cleanup/command.ts';
import type { Command, Io } from './command.ts';
import { demoCommand } from './demo/command.ts';
import { FlagError } from './flags.ts';
import { planCommand } from './plan/command.ts';
import { runCommand } from './run/command.ts';
import { VERSION } from './version.ts';

const COMMANDS: readonly Command[] = [planCommand, demoCommand, cleanupCommand];

const HELP = `Pointsman, a kube-proxy: makes Kubernetes Services work on a node.

Usage:
  kube-proxy --manifests DIR [flags]   program the kernel, and follow every change of the manifests
  kube-proxy COMMAND [flags]

Commands:
${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`).join('\n')}

  kube-proxy COMMAND --help   flags of a command; kube-proxy --manifests DIR --help: those of the proxy itself
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
    if (command) return await command.run(rest, io);
    if (first.startsWith('-')) return await runCommand.run(args, io);
    throw new FlagError(`unknown command: ${first}; see kube-proxy --help`);
  } catch (error) {
    io.stderr.write(`Error: ${errorText(error)}\n`);
    return 1;
  }
}
