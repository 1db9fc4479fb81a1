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
import { Logging } from '../../observe/logging/index.ts';
import type { Command, Io } from '../command.ts';
import { FlagError, type ParsedFlags, parseFlags } from '../flags/index.ts';
import { refuseArguments } from '../no-arguments.ts';
import { writeConfigFile } from './config-file.ts';
import { KUBE_PROXY_FLAGS, type KubeProxyFlags } from './flags/index.ts';
import { helpText, usageText } from './help.ts';
import { loggingSettings } from './logging-settings.ts';
import { type Completed, complete, effectiveFlags } from './options.ts';
import { versionText } from './version-text.ts';

/** What kube-proxy does once all is known. Their errors end it with status 1. */
export interface Runners {
  /** Follows the cluster and programs the kernel; or, with `initOnly`, only prepares that. */
  run(options: DaemonOptions): Promise<void>;
  /** Removes what the proxy made in the kernel. */
  cleanup(options: DaemonOptions): Promise<void>;
}

/** kube-proxy without a sub-command. Returns the exit status. */
export async function kubeProxy(
  args: readonly string[],
  io: Io,
  runners: Runners,
  commands: readonly Command[],
): Promise<number> {
  // Services must not depend on whether somebody reads the log: a reader that goes away breaks only the pipe.
  for (const stream of [io.stdout, io.stderr]) stream.on?.('error', () => {});
  const parsed = parse(args, io, commands);
  if (!parsed) return 1;
  for (const notice of parsed.notices) io.stderr.write(notice);
  if (parsed.values.help) return print(io, helpText(commands));
  refuseArguments('kube-proxy', parsed.positional);
  const version = versionText(parsed.values.version);
  if (version !== undefined) return print(io, version);
  const logging = new Logging(io);
  try {
    await work(parsed, logging, runners);
    return 0;
  } catch (error) {
    logging.log.error('command', 'command failed', { err: errorText(error) });
    return 1;
  } finally {
    logging.flush();
  }
}

/** Undefined if the flags cannot be read. The usage comes before the error, so that the error is in sight. */
function parse(args: readonly string[], io: Io, commands: readonly Command[]): ParsedFlags<KubeProxyFlags> | undefined {
  try {
    return parseFlags(KUBE_PROXY_FLAGS, args);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    io.stderr.write(`${usageText(commands)}\nError: ${error.message}\n`);
    return undefined;
  }
}

async function work(parsed: ParsedFlags<KubeProxyFlags>, logging: Logging, runners: Runners): Promise<void> {
  const { log } = logging;
  const completed = prefixed('failed complete: ', () => complete(parsed, log));
  const { configuration, gates } = completed;
  prefixed('initialize logging: ', () => {
    refuse(validateLogging('logging', configuration.logging, gates));
    logging.configure(loggingSettings(configuration.logging));
  });
  const options = daemonOptions(parsed, completed, logging);
  for (const { name, value } of options.flags()) log.plain(1, 'flags', `FLAG: --${name}=${goQuote(value)}`);
  prefixed('failed validate: ', () => refuse(validateConfiguration(configuration)));
  try {
    await act(parsed, options, runners);
  } catch (error) {
    log.error('command', 'Error running ProxyServer', { err: errorText(error) });
    throw error;
  }
}

async function act({ values }: ParsedFlags<KubeProxyFlags>, options: DaemonOptions, runners: Runners): Promise<void> {
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
      refuse(validateConfiguration(configuration));
      return configuration;
    },
    master: values.master,
    initOnly: values['init-only'],
    countConnections: values['count-connections'],
    manifests: values.manifests === '' ? undefined : values.manifests,
    kubernetesVersion: values.version.reported,
    flags: () => effectiveFlags(parsed, completed.configuration),
    log: logging.log,
    logControl: logging,
  };
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw new Error(aggregate(errors));
}

function prefixed<T>(prefix: string, step: () => T): T {
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
