import type { Configuration } from './configuration.ts';

/** Fields that a running proxy takes over without a restart, by their path in a Configuration. */
export const LIVE_FIELDS = [
  'logging.verbosity',
  'logging.vmodule',
  'detectLocalMode',
  'detectLocal.bridgeInterface',
  'detectLocal.interfaceNamePrefix',
  'detectLocal.clusterCIDRs',
  'nodePortAddresses',
  'syncPeriod',
  'minSyncPeriod',
  'linux.masqueradeAll',
  'linux.oomScoreAdj',
] as const;

export type LiveField = (typeof LIVE_FIELDS)[number];

export interface ConfigurationChanges {
  readonly live: readonly LiveField[];
  /** Paths of what takes effect at the next start only. */
  readonly restart: readonly string[];
}

/** What differs between the configuration that is in use and the next one. Other ways to say the same are no difference. */
export function compareConfigurations(running: Configuration, next: Configuration): ConfigurationChanges {
  const before = leaves(running);
  const after = leaves(next);
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  const changed = paths.filter(path => before.get(path) !== after.get(path));
  return { live: changed.filter(isLive), restart: changed.filter(path => !isLive(path)) };
}

function isLive(path: string): path is LiveField {
  return LIVE_FIELDS.some(field => field === path);
}

/** Every field that holds no others, by path, as a text to compare. */
function leaves(configuration: Configuration): ReadonlyMap<string, string> {
  // How a duration was written is no setting.
  const { flushFrequencyIsNumber: _, ...logging } = configuration.logging;
  const found = new Map<string, string>();
  collect({ ...configuration, logging }, '', found);
  return found;
}

function collect(value: unknown, path: string, into: Map<string, string>): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Map) {
    const text = leafText(value);
    if (text !== '') into.set(path, text);
    return;
  }
  for (const [key, member] of Object.entries(value)) collect(member, path === '' ? key : `${path}.${key}`, into);
}

/** Empty for undefined and for an empty list, which mean the same. */
function leafText(value: unknown): string {
  if (value === undefined) return '';
  if (value instanceof Map) return JSON.stringify([...value].sort());
  if (Array.isArray(value)) return value.length === 0 ? '' : JSON.stringify(value);
  return typeof value === 'bigint' ? `${value}ns` : JSON.stringify(value);
}
