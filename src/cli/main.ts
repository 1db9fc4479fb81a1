import { runDaemon } from '../daemon/index.ts';
import { errorText } from '../lib/error-text.ts';
import { printableLines } from '../lib/printable.ts';
import { withoutSecrets } from '../lib/secrets.ts';
import { cleanupAll } from './cleanup/cleanup-all.ts';
import { cleanupCommand } from './cleanup/command.ts';
import type { Command, Io } from './command.ts';
import { demoCommand } from './demo/command.ts';
import { kubeProxy, type Runners } from './kube-proxy/command.ts';
import { planCommand } from './plan/command.ts';
import { versionCommand } from './version.ts';

const COMMANDS: readonly Command[] = [planCommand, demoCommand, cleanupCommand, versionCommand];

const RUNNERS: Runners = {
  run: runDaemon,
  cleanup: ({ log }) => cleanupAll(log),
};

/** Runs a command line. Returns the exit status. */
export async function main(args: readonly string[], io: Io, runners: Runners = RUNNERS): Promise<number> {
  const [first, ...rest] = args;
  const command = COMMANDS.find(({ name }) => name === first);
  try {
    return await (command ? command.run(rest, io) : kubeProxy(args, io, runners, COMMANDS));
  } catch (error) {
    io.stderr.write(`Error: ${printableLines(withoutSecrets(errorText(error)))}\n`);
    return 1;
  }
}
