import {
  applyFeatureGates,
  applyPlatformDefaults,
  type Configuration,
  type FeatureGates,
  loadConfiguration,
} from '../../config/index.ts';
import type { Logger } from '../../observe/logging/index.ts';
import { type FlagText, flagTexts, type ParsedFlags } from '../flags/index.ts';
import { readConfigFile } from './config-file.ts';
import { KUBE_PROXY_FLAGS, type KubeProxyFlags, OWN_FLAGS } from './flags/index.ts';
import { fromFlags } from './from-flags.ts';
import { loggingFromFlags } from './logging-flags.ts';

export interface Completed {
  readonly configuration: Configuration;
  readonly gates: FeatureGates;
  /** What the configuration file held; empty without one. */
  readonly configText: string;
}

/**
 * The whole configuration, from flags or from a file, of which the text may be given; not yet validated. Throws an
 * Error that says why there is none.
 */
export function complete(parsed: ParsedFlags<KubeProxyFlags>, log: Logger, text?: string): Completed {
  const { values } = parsed;
  const configText = values.config === '' ? '' : (text ?? readConfigFile(values.config));
  const said = values.config === '' ? fromFlags(parsed) : fromFile(configText, parsed, log);
  // Who names neither an API server nor a mode tries things out, for which nftables mode is best.
  const chosen = said.mode === '' && values.manifests !== '' ? { ...said, mode: 'nftables' } : said;
  if (chosen.mode === '') log.info('options', 'Using iptables proxy');
  const configuration = withHostname(applyPlatformDefaults(chosen), values['hostname-override']);
  return { configuration, gates: gatesOf(configuration, log), configText };
}

/** A file replaces all that flags say, but for the log. */
function fromFile(text: string, { values, changed }: ParsedFlags<KubeProxyFlags>, log: Logger): Configuration {
  const { configuration, lenient } = loadConfiguration(text);
  if (lenient !== undefined) {
    log.info('options', 'Using lenient decoding as strict decoding failed', { err: lenient });
  }
  return { ...configuration, logging: loggingFromFlags(configuration.logging, values, changed) };
}

function withHostname(configuration: Configuration, override: string): Configuration {
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
 * All flags as they count, for the log and /flagz. Without a file some show what became of them; our own flags are
 * there only if they were given.
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
