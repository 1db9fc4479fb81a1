import { runDaemon } from '../daemon/index.ts';
import { errorText } from '../lib/error-text.ts';
import { nearest } from '../lib/nearest.ts';
import { printable, printableLines } from '../lib/printable.ts';
import { withoutSecrets } from '../lib/secrets.ts';
import { bugreportCommand } from './bugreport/command.ts';
import { cleanupAll } from './cleanup/cleanup-all.ts';
import { cleanupCommand } from './cleanup/command.ts';
import type { Command, Io } from './command.ts';
import { completionCommand } from './completion/command.ts';
import { demoCommand } from './demo/command.ts';
import { explainCommand } from './explain/command.ts';
import { FlagError } from './flags/index.ts';
import { helpCommand } from './help/command.ts';
import { overviewText } from './help/overview.ts';
import { historyCommand } from './history/command.ts';
import { kubeProxy, type Runners } from './kube-proxy/command.ts';
import { pageCommand } from './page/command.ts';
import { planCommand } from './plan/command.ts';
import { servicesCommand } from './services/command.ts';
import { socketsCommand } from './sockets/command.ts';
import { statusCommand } from './status/command.ts';
import { traceCommand } from './trace/command.ts';
import { versionCommand } from './version-command.ts';
import { waitCommand } from './wait/command.ts';

const COMMANDS: readonly Command[] = [
  statusCommand,
  explainCommand,
  servicesCommand,
  socketsCommand,
  historyCommand,
  waitCommand,
  planCommand,
  traceCommand,
  pageCommand,
  demoCommand,
  bugreportCommand,
  cleanupCommand,
  completionCommand(() => COMMANDS),
  versionCommand,
  helpCommand(() => COMMANDS),
];

const NAMES = COMMANDS.map(({ name }) => name);

const RUNNERS: Runners = {
  run: runDaemon,
  cleanup: ({ log, cgroupRoot }) => cleanupAll(log, { cgroupRoot }),
};

/** Runs a command line. Returns the exit status. */
export async function main(args: readonly string[], io: Io, runners: Runners = RUNNERS): Promise<number> {
  const [first, ...rest] = args;
  const command = COMMANDS.find(({ name }) => name === first);
  try {
    if (command) return await command.run(rest, io);
    return await kubeProxy(args, io, runners, width => overviewText(COMMANDS, width));
  } catch (error) {
    io.stderr.write(`Error: ${printableLines(withoutSecrets(errorText(error)))}\n`);
    if (error instanceof FlagError) io.stderr.write(adviceText(error, first ?? '', command));
    return command?.errorStatus ?? 1;
  }
}

/** The nearest word, and where to read on. The first line of the error stays as it is in upstream. */
function adviceText({ suggestion }: FlagError, first: string, command: Command | undefined): string {
  // The rest of the command line belongs to the command that the operator meant.
  const other = command || first.startsWith('-') ? undefined : nearest(first, NAMES);
  const meant = other === undefined ? suggestion : `kube-proxy ${other}`;
  const question = meant === undefined ? '' : `Did you mean ${printable(meant)}? `;
  return `${question}See: kube-proxy help${command ? ` ${command.name}` : ''}\n`;
}
