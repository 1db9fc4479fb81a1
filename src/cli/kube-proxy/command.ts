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
import { nearest } from '../../lib/nearest.ts';
import { MODES } from '../../modes/index.ts';
import { type Logger, Logging } from '../../observe/logging/index.ts';
import { type Io, print, refuseArguments } from '../command.ts';
import { type ParsedFlags, parseFlags } from '../flags/index.ts';
import { helpWidth } from '../help/text.ts';
import { modeFlags } from '../node-flags.ts';
import { VERSION, versionText } from '../version.ts';
import { KUBE_PROXY_FLAGS, type KubeProxyFlags } from './flags/index.ts';
import { loggingSettings } from './logging.ts';
import { type Completed, complete, effectiveFlags, writeConfigFile } from './options.ts';
import { pageOptions } from './page-options.ts';
import { reportOptions } from './report-options.ts';

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
  help: (width: number) => string,
): Promise<number> {
  // If the reader of the log goes away, the proxy must go on. Without these listeners, a broken pipe would end it.
  for (const stream of [io.stdout, io.stderr]) stream.on?.('error', () => {});
  const parsed = parseFlags(KUBE_PROXY_FLAGS, args);
  for (const notice of parsed.notices) io.stderr.write(notice);
  if (parsed.values.help) return print(io, help(helpWidth(io.stdout)));
  refuseArguments('kube-proxy', parsed.positional);
  const version = versionText(parsed.values.version);
  if (version !== undefined) return print(io, version);
  const own = { page: pageOptions(parsed), reportProgrammed: reportOptions(parsed.values) };
  const logging = new Logging(io);
  try {
    await configureAndRun(parsed, own, logging, runners);
    return 0;
  } catch (error) {
    logging.log.error('command', 'command failed', { err: errorText(error) });
    return 1;
  } finally {
    logging.flush();
  }
}

async function configureAndRun(
  parsed: ParsedFlags<KubeProxyFlags>,
  own: Pick<DaemonOptions, 'page' | 'reportProgrammed'>,
  logging: Logging,
  runners: Runners,
): Promise<void> {
  const { log } = logging;
  const completed = withPrefix('failed complete: ', () => complete(parsed, log));
  const { configuration, gates } = completed;
  withPrefix('initialize logging: ', () => {
    throwErrors(validateLogging('logging', configuration.logging, gates));
    logging.configure(loggingSettings(configuration.logging));
  });
  const options = { ...daemonOptions(parsed, completed, logging), ...own };
  for (const { name, value } of options.flags()) log.plain(1, 'flags', `FLAG: --${name}=${goQuote(value)}`);
  withPrefix('failed validate: ', () => {
    logUnknownMode(configuration.mode, log);
    throwErrors(validateConfiguration(configuration));
  });
  try {
    await runTask(parsed, options, runners);
  } catch (error) {
    log.error('command', 'Error running ProxyServer', { err: errorText(error) });
    throw error;
  }
}

/** The error that follows is upstream's, byte for byte, and names only the modes that upstream has. */
function logUnknownMode(mode: string, log: Logger): void {
  const modes = MODES.map(({ name }) => name);
  if (mode === '' || modes.includes(mode)) return;
  log.info('command', 'Proxy mode is not known', { mode, modes: modes.join(', '), nearest: nearest(mode, modes) });
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

function daemonOptions(
  parsed: ParsedFlags<KubeProxyFlags>,
  completed: Completed,
  logging: Logging,
): Omit<DaemonOptions, 'page' | 'reportProgrammed'> {
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
    ...modeFlags(values),
    manifests: values.manifests === '' ? undefined : values.manifests,
    inspectSocket: values['inspect-socket'],
    inspectBindAddress: values['inspect-bind-address'],
    version: VERSION,
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
