import {
  aggregate,
  applyFeatureGates,
  applyPlatformDefaults,
  type Configuration,
  defaultConfiguration,
  type FeatureGates,
  loadConfiguration,
  validateConfiguration,
} from '../../config/index.ts';
import { errorText } from '../../lib/error-text.ts';
import { DEFAULT_MODE } from '../../modes/index.ts';
import { FlagError } from '../flags/index.ts';
import { readConfigFile } from '../kube-proxy/options.ts';
import { modeFlag } from '../node-flags.ts';
import type { FactsFlags } from './flags.ts';

export interface FactsConfiguration {
  /** Complete and valid. */
  readonly configuration: Configuration;
  readonly gates: FeatureGates;
  /** What the operator should know about the settings. */
  readonly notes: readonly string[];
}

/** The settings of the file, or the defaults. Flags override them. Throws an Error that says what is wrong. */
export function factsConfiguration(flags: FactsFlags): FactsConfiguration {
  const path = flags.values.config;
  const notes: string[] = [];
  const file = path === '' ? undefined : configurationOf(path, notes);
  const base = file ?? { ...defaultConfiguration(), mode: DEFAULT_MODE.descriptor.name };
  const overridden = { ...override(base, flags), ...settingsOf(base, flags) };
  if (file) notes.push(...modeNotes(file, overridden.mode, flags));
  const configuration = applyPlatformDefaults(overridden);
  const gates = gatesOf(configuration, notes);
  const errors = validateConfiguration(configuration);
  if (errors.length > 0) throw new FlagError(aggregate(errors));
  return { configuration, gates, notes };
}

function configurationOf(path: string, notes: string[]): Configuration {
  try {
    const { configuration, lenient } = loadConfiguration(readConfigFile(path));
    if (lenient !== undefined) notes.push(`${path}: ${lenient}`);
    return configuration;
  } catch (error) {
    throw new Error(`cannot use the configuration file ${path}: ${errorText(error)}`, { cause: error });
  }
}

function override(base: Configuration, flags: FactsFlags): Configuration {
  const { values, changed } = flags;
  return {
    ...base,
    mode: changed.has('proxy-mode') ? modeFlag(values).name : base.mode,
    bindAddress: values['bind-address'] || base.bindAddress,
    nodePortAddresses: changed.has('nodeport-addresses') ? values['nodeport-addresses'] : base.nodePortAddresses,
    featureGates: new Map([...base.featureGates, ...values['feature-gates']]),
    linux: {
      ...base.linux,
      masqueradeAll: changed.has('masquerade-all') ? values['masquerade-all'] : base.linux.masqueradeAll,
    },
  };
}

/** How the proxy recognises connections from pods. */
function settingsOf(
  { detectLocalMode, detectLocal }: Configuration,
  { values, changed }: FactsFlags,
): Pick<Configuration, 'detectLocalMode' | 'detectLocal'> {
  return {
    detectLocalMode: changed.has('detect-local-mode') ? values['detect-local-mode'] : detectLocalMode,
    detectLocal: {
      bridgeInterface: values['pod-bridge-interface'] || detectLocal.bridgeInterface,
      interfaceNamePrefix: values['pod-interface-name-prefix'] || detectLocal.interfaceNamePrefix,
      clusterCIDRs: changed.has('cluster-cidr') ? values['cluster-cidr'] : detectLocal.clusterCIDRs,
    },
  };
}

function modeNotes(file: Configuration, mode: string, { values, changed }: FactsFlags): readonly string[] {
  if (changed.has('proxy-mode')) {
    const isOther = file.mode !== '' && file.mode !== mode;
    return isOther ? [`--proxy-mode ${mode} overrides the mode ${file.mode} of ${values.config}`] : [];
  }
  return mode === '' ? [`${values.config} names no mode, so this is the plan of iptables mode: set --proxy-mode`] : [];
}

function gatesOf({ featureGates }: Configuration, notes: string[]): FeatureGates {
  const applied = applyFeatureGates(featureGates);
  if (applied.kind === 'error') throw new FlagError(applied.message);
  for (const { message, featureGate, value } of applied.warnings) notes.push(`${featureGate}=${value}: ${message}`);
  return applied.gates;
}
