import { type Configuration, ConfigurationFile, compareConfigurations } from '../config/index.ts';
import { errorText } from '../lib/error-text.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';
import type { DaemonOptions } from './options.ts';
import { CONFIGURATION_UPDATED, StartupError } from './startup-error.ts';

export interface ReloadParts {
  readonly options: DaemonOptions;
  readonly metrics: ProxyMetrics;
  /** Takes over what can change while the proxy runs. */
  readonly apply: (configuration: Configuration) => void;
  /** A change that takes a new start. */
  readonly restart: (reason: Error) => void;
}

/**
 * Follows the configuration file. What can be applied while the proxy runs is; for the rest the process ends, to be
 * started again by whoever looks after it. A file that is not valid is refused, and what runs stays.
 */
export class ConfigurationReload {
  readonly #parts: ReloadParts;
  readonly #file: ConfigurationFile;
  #running: Configuration;
  #refused: string | undefined;

  constructor(parts: ReloadParts) {
    const { configFile, configText, configuration } = parts.options;
    this.#parts = parts;
    this.#running = configuration;
    this.#file = ConfigurationFile.watch(configFile, { text: configText, onChange: text => this.#changed(text) });
  }

  /** Why the file as it is now is not in force. */
  get refused(): string | undefined {
    return this.#refused;
  }

  close(): void {
    this.#file.close();
  }

  #changed(text: string): void {
    const { options, metrics, apply, restart } = this.#parts;
    const { log } = options;
    let next: Configuration;
    try {
      next = options.reload(text);
    } catch (error) {
      this.#refused = errorText(error);
      metrics.configurationRefused();
      log.error('reload', 'The changed configuration is refused; what runs stays', { err: this.#refused });
      return;
    }
    if (this.#refused !== undefined) log.info('reload', 'The configuration is valid again');
    this.#refused = undefined;
    metrics.configurationAccepted();
    const { live, restart: fields } = compareConfigurations(this.#running, next);
    if (fields.length > 0) {
      log.info('reload', 'The configuration changed in fields that take a new start', { fields });
      restart(new StartupError(CONFIGURATION_UPDATED));
      return;
    }
    this.#running = next;
    if (live.length === 0) return;
    log.info('reload', 'The configuration changed and is applied', { fields: live });
    apply(next);
  }
}
