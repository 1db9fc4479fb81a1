import { type Configuration, ConfigurationFile, compareConfigurations } from '../config/index.ts';
import type { History } from '../history/index.ts';
import { toMilliseconds } from '../lib/duration.ts';
import { errorText } from '../lib/error-text.ts';
import { FatalError } from '../lib/fatal-error.ts';
import type { Problem } from '../lib/problem.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';
import { setOwnOomScore } from './memory.ts';
import type { Observability } from './observability.ts';
import type { DaemonOptions } from './options.ts';
import type { OpenResources, Shutdown } from './shutdown.ts';

type Apply = (configuration: Configuration) => void;

/** Sets how the running proxy applies a changed configuration. */
export type OnConfigurationChange = (apply: Apply) => void;

/** Upstream's words. */
const CONFIGURATION_UPDATED = "content of the proxy server's configuration file was updated";

/**
 * Watches the configuration file from the beginning, so that an operator can correct a file that keeps the proxy from
 * starting. Until there is a proxy, every change needs a restart.
 */
export function reloadConfiguration(
  options: DaemonOptions,
  { metrics, checks, health, history, setConfiguration }: Observability,
  resources: OpenResources,
  shutdown: Shutdown,
): OnConfigurationChange {
  let applyToProxy: Apply = () => shutdown.fail(new FatalError(CONFIGURATION_UPDATED));
  const reload = new ConfigurationReload({
    options,
    metrics,
    history,
    apply(next) {
      setConfiguration(next);
      health.setTimeoutMs(2 * toMilliseconds(next.syncPeriod));
      options.logControl.setVerbosity(next.logging.verbosity);
      options.logControl.setVModule(next.logging.vmodule);
      setOwnOomScore(next.linux.oomScoreAdj, options.log);
      applyToProxy(next);
    },
    restart: reason => shutdown.fail(reason),
  });
  checks.add('configuration', () => reload.problem && { isReady: false, problems: [reload.problem] });
  resources.add('configuration', () => reload.close());
  return apply => {
    applyToProxy = apply;
  };
}

export interface ConfigurationReloadOptions {
  readonly options: DaemonOptions;
  readonly metrics: ProxyMetrics;
  readonly history: History;
  /** Applies what can change while the proxy runs. */
  readonly apply: Apply;
  /** Ends the process because of a change that needs a restart. */
  readonly restart: (reason: Error) => void;
}

/**
 * Watches the configuration file. Applies what can change while the proxy runs. For any other change the process ends,
 * and its supervisor, such as the kubelet, starts it again. The proxy refuses a file that is not valid and goes on as
 * it was.
 */
export class ConfigurationReload {
  readonly #options: ConfigurationReloadOptions;
  readonly #file: ConfigurationFile;
  #running: Configuration;
  #problem: Problem | undefined;

  constructor(options: ConfigurationReloadOptions) {
    const { configFile, configText, configuration } = options.options;
    this.#options = options;
    this.#running = configuration;
    this.#file = ConfigurationFile.watch(configFile, { text: configText, onChange: text => this.#change(text) });
  }

  /** Why the proxy refused the file as it is now. */
  get problem(): Problem | undefined {
    return this.#problem;
  }

  close(): void {
    this.#file.close();
  }

  #change(text: string): void {
    const { apply, restart, history, options } = this.#options;
    const { log } = options;
    const next = this.#read(text);
    if (!next) return;
    const { live, restart: fields } = compareConfigurations(this.#running, next);
    if (fields.length > 0) {
      log.info('reload', 'The configuration changed in fields that need a restart', { fields });
      restart(new FatalError(CONFIGURATION_UPDATED));
      return;
    }
    this.#running = next;
    if (live.length === 0) return;
    log.info('reload', 'The configuration changed and is applied', { fields: live });
    history.configured(`changed: ${live.join(', ')}`);
    apply(next);
  }

  /** The configuration in the text. Reports a text that is not valid, and returns undefined. */
  #read(text: string): Configuration | undefined {
    const { metrics, history, options } = this.#options;
    const { log } = options;
    let next: Configuration;
    try {
      next = options.reload(text);
    } catch (error) {
      const err = errorText(error);
      this.#problem = { where: options.configFile, message: err };
      metrics.configurationRefused();
      history.configurationRefused(err);
      log.error('reload', 'The changed configuration file is not valid; the proxy keeps its configuration', { err });
      return undefined;
    }
    if (this.#problem) log.info('reload', 'The configuration file is valid again');
    this.#problem = undefined;
    metrics.configurationAccepted();
    return next;
  }
}
