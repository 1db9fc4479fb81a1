import {
  aggregate,
  encodeConfiguration,
  type FieldError,
  validateConfiguration,
  validateLogging,
} from '../../config/index.ts';
import type { DaemonOptions } from '../../daemon/index.ts';
import { errorText } from '../../lib/error-text.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { printableLines } from '../../lib/printable.ts';
import { Logging } from '../../observe/logging/index.ts';
import { type Command, type Io, refuseArguments } from '../command.ts';
import { describeFlags, FlagError, type ParsedFlags, parseFlags, sortedFlags } from '../flags/index.ts';
import { versionText } from '../version.ts';
import { KUBE_PROXY_FLAGS, type KubeProxyFlags, OWN_FLAGS, UPSTREAM_FLAGS } from './flags/index.ts';
import { loggingSettings } from './logging.ts';
import { type Completed, complete, effectiveFlags, writeConfigFile } from './options.ts';

/** The tasks of kube-proxy after it has a valid configuration. An error of a task gives the exit status 1. */
export interface Runners {
  /** Follows the cluster and programs the kernel. With `initOnly`, only does the steps that need root privileges. */
  run(options: DaemonOptions): Promise<void>;
  /** Removes everything that the proxy wrote to the kernel. */
  cleanup(options: DaemonOptions): Promise<void>;
}

/** Runs kube-proxy without a sub-command. Returns the exit status. */
export async function kubeProxy(
  args: readonly string[],
  io: Io,
  runners: Runners,
  commands: readonly Command[],
): Promise<number> {
  // If the reader of the log goes away, the proxy must go on. Without these listeners, a broken pipe would end it.
  for (const stream of [io.stdout, io.stderr]) stream.on?.('error', () => {});
  const parsed = parseOrPrintUsage(args, io, commands);
  if (!parsed) return 1;
  for (const notice of parsed.notices) io.stderr.write(notice);
  if (parsed.values.help) return print(io, `${ABOUT}\n\n${usageText(commands)}`);
  refuseArguments('kube-proxy', parsed.positional);
  const version = versionText(parsed.values.version);
  if (version !== undefined) return print(io, version);
  const logging = new Logging(io);
  try {
    await configureAndRun(parsed, logging, runners);
    return 0;
  } catch (error) {
    logging.log.error('command', 'command failed', { err: errorText(error) });
    return 1;
  } finally {
    logging.flush();
  }
}

const ABOUT = `Pointsman is a drop-in replacement for kube-proxy: it makes Kubernetes Services work on a node. It watches Services,
EndpointSlices and the Node at the API server, and programs the kernel for them. Flags, configuration file and behaviour
are those of kube-proxy.`;

function usageText(commands: readonly Command[]): string {
  return `Usage:
  kube-proxy [flags]
  kube-proxy COMMAND [flags]

Flags:
${describeFlags(sortedFlags(UPSTREAM_FLAGS))}

Flags that only Pointsman has:
${describeFlags(OWN_FLAGS)}

Commands that only Pointsman has:
${commands.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`).join('\n')}
`;
}

/**
 * Returns undefined if the flags cannot be read. Prints the usage before the error, so that the error is the last line
 * on the screen.
 */
function parseOrPrintUsage(
  args: readonly string[],
  io: Io,
  commands: readonly Command[],
): ParsedFlags<KubeProxyFlags> | undefined {
  try {
    return parseFlags(KUBE_PROXY_FLAGS, args);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    io.stderr.write(`${usageText(commands)}\nError: ${printableLines(error.message)}\n`);
    return undefined;
  }
}

async function configureAndRun(parsed: ParsedFlags<KubeProxyFlags>, logging: Logging, runners: Runners): Promise<void> {
  const { log } = logging;
  const completed = withPrefix('failed complete: ', () => complete(parsed, log));
  const { configuration, gates } = completed;
  withPrefix('initialize logging: ', () => {
    throwErrors(validateLogging('logging', configuration.logging, gates));
    logging.configure(loggingSettings(configuration.logging));
  });
  const options = daemonOptions(parsed, completed, logging);
  for (const { name, value } of options.flags()) log.plain(1, 'flags', `FLAG: --${name}=${goQuote(value)}`);
  withPrefix('failed validate: ', () => throwErrors(validateConfiguration(configuration)));
  try {
    await runTask(parsed, options, runners);
  } catch (error) {
    log.error('command', 'Error running ProxyServer', { err: errorText(error) });
    throw error;
  }
}

async function runTask(
  { values }: ParsedFlags<KubeProxyFlags>,
  options: DaemonOptions,
  runners: Runners,
): Promise<void> {
  const file = values['write-config-to'];
  if (file !== '') {
    writeConfigFile(file, encodeConfiguration(options.configuration));
    options.log.info('command', 'Wrote configuration', { file });
  } else if (values.cleanup) {
    await runners.cleanup(options);
  } else {
    await runners.run(options);
  }
}

function daemonOptions(parsed: ParsedFlags<KubeProxyFlags>, completed: Completed, logging: Logging): DaemonOptions {
  const { values } = parsed;
  return {
    ...completed,
    configFile: values.config,
    reload: text => {
      const { configuration } = complete(parsed, logging.log, text);
      throwErrors(validateConfiguration(configuration));
      return configuration;
    },
    master: values.master,
    initOnly: values['init-only'],
    allowLoopbackEndpoints: values['allow-loopback-endpoints'],
    countConnections: values['count-connections'],
    manifests: values.manifests === '' ? undefined : values.manifests,
    kubernetesVersion: values.version.reported,
    flags: () => effectiveFlags(parsed, completed.configuration),
    log: logging.log,
    logControl: logging,
  };
}

function throwErrors(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new Error(aggregate(errors));
}

/** Runs a step. The messages of its errors get the prefix. */
function withPrefix<T>(prefix: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw new Error(`${prefix}${errorText(error)}`, { cause: error });
  }
}

function print(io: Io, text: string): number {
  io.stdout.write(text);
  return 0;
}
