import { readFileSync, writeFileSync } from 'node:fs';
import {
  applyFeatureGates,
  applyPlatformDefaults,
  type Configuration,
  configurationText,
  type FeatureGates,
  loadConfiguration,
} from '../../config/index.ts';
import type { Logger } from '../../observe/logging/index.ts';
import { type FlagText, flagTexts, type ParsedFlags } from '../flags/index.ts';
import { configurationFromFlags } from './configuration-from-flags.ts';
import { KUBE_PROXY_FLAGS, type KubeProxyFlags, OWN_FLAGS } from './flags/index.ts';
import { overrideLogging } from './logging.ts';

export interface Completed {
  readonly configuration: Configuration;
  readonly gates: FeatureGates;
  /** Neither the file nor a flag names a mode. */
  readonly isModeDefaulted: boolean;
  /** The text of the configuration file. Empty without a file. */
  readonly configText: string;
}

/**
 * Makes the whole configuration, from flags or from a file, and does not validate it. If the caller passes the text of
 * the file, does not read the file. Throws an Error.
 */
export function complete(parsed: ParsedFlags<KubeProxyFlags>, log: Logger, text?: string): Completed {
  const { values } = parsed;
  const configText = values.config === '' ? '' : (text ?? readConfigFile(values.config));
  const given = values.config === '' ? configurationFromFlags(parsed) : configurationFromFile(configText, parsed, log);
  // A proxy without an API server is for trying things out. nftables mode is the best one for that.
  const withMode = given.mode === '' && values.manifests !== '' ? { ...given, mode: 'nftables' } : given;
  const configuration = overrideHostname(applyPlatformDefaults(withMode), values['hostname-override']);
  return { configuration, gates: gatesOf(configuration, log), isModeDefaulted: withMode.mode === '', configText };
}

/** A file replaces the configuration from flags, except for the log. */
function configurationFromFile(text: string, parsed: ParsedFlags<KubeProxyFlags>, log: Logger): Configuration {
  const { configuration, lenient } = loadConfiguration(text);
  if (lenient !== undefined) {
    log.info('options', 'Using lenient decoding as strict decoding failed', { err: lenient });
  }
  return { ...configuration, logging: overrideLogging(configuration.logging, parsed) };
}

function overrideHostname(configuration: Configuration, override: string): Configuration {
  if (override === '') return configuration;
  const name = override.trim().toLowerCase();
  if (name === '') throw new Error('empty hostname-override is invalid');
  return { ...configuration, hostnameOverride: name };
}

function gatesOf({ featureGates }: Configuration, log: Logger): FeatureGates {
  const applied = applyFeatureGates(featureGates);
  if (applied.kind === 'error') throw new Error(applied.message);
  for (const { message, featureGate, value } of applied.warnings) {
    log.warning('options', message, { featureGate, value });
  }
  return applied.gates;
}

/**
 * Returns all flags with their values, for the log and /flagz. Without a configuration file, some flags show the value
 * after defaults. Our own flags appear only if they were given.
 */
export function effectiveFlags(
  { values, changed }: ParsedFlags<KubeProxyFlags>,
  configuration: Configuration,
): readonly FlagText[] {
  const effective = {
    ...values,
    'healthz-bind-address': configuration.healthzBindAddress,
    'metrics-bind-address': configuration.metricsBindAddress,
    'proxy-mode': configuration.mode,
    'detect-local-mode': configuration.detectLocalMode,
    'nodeport-addresses': configuration.nodePortAddresses ?? [],
  };
  const hidden = new Set(Object.keys(OWN_FLAGS));
  for (const name of changed) hidden.delete(name);
  return flagTexts(KUBE_PROXY_FLAGS, values.config === '' ? effective : values).filter(({ name }) => !hidden.has(name));
}

export function readConfigFile(path: string): string {
  return configurationText(withGoErrors(path, () => readFileSync(path)));
}

export function writeConfigFile(path: string, text: string): void {
  withGoErrors(path, () => writeFileSync(path, text));
}

/** Runs a file operation. Its errors get the words of Go: `open /x: no such file or directory`. */
function withGoErrors<T>(path: string, operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) throw error;
    // Node writes `ENOENT: no such file or directory, open '/x'`.
    const [, words = error.message] = /^\w+: (.*?), \w+/.exec(error.message) ?? [];
    throw new Error(`${error.syscall} ${path}: ${GO_WORDS.get(String(error.code)) ?? words}`);
  }
}

/** The words of Go that differ from those of Node. */
const GO_WORDS: ReadonlyMap<string, string> = new Map([
  ['EIO', 'input/output error'],
  ['EISDIR', 'is a directory'],
  ['ELOOP', 'too many levels of symbolic links'],
  ['ENAMETOOLONG', 'file name too long'],
]);
