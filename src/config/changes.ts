import type { Configuration } from './configuration.ts';

/** Paths of the Configuration fields that a running proxy applies without a restart. */
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
  /** Paths of the changed fields that can be applied at once. */
  readonly live: readonly LiveField[];
  /** Paths of the changed fields that take effect only at the next start. */
  readonly restart: readonly string[];
}

/** Compares the configuration in use with the next one. Two ways to write the same value are not a change. */
export function compareConfigurations(running: Configuration, next: Configuration): ConfigurationChanges {
  const before = leafTexts(running);
  const after = leafTexts(next);
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  const changed = paths.filter(path => before.get(path) !== after.get(path));
  return { live: changed.filter(isLive), restart: changed.filter(path => !isLive(path)) };
}

function isLive(path: string): path is LiveField {
  return LIVE_FIELDS.some(field => field === path);
}

/** Maps the path of each innermost field to a text that can be compared. */
function leafTexts(configuration: Configuration): ReadonlyMap<string, string> {
  // This field only says how a file wrote a duration.
  const { flushFrequencyIsNumber: _, ...logging } = configuration.logging;
  const found = new Map<string, string>();
  collectLeaves({ ...configuration, logging }, '', found);
  return found;
}

function collectLeaves(value: unknown, path: string, into: Map<string, string>): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Map) {
    const text = leafText(value);
    if (text !== '') into.set(path, text);
    return;
  }
  for (const [key, member] of Object.entries(value)) collectLeaves(member, path === '' ? key : `${path}.${key}`, into);
}

/** Undefined and an empty list mean the same. Both give an empty text. */
function leafText(value: unknown): string {
  if (value === undefined) return '';
  if (value instanceof Map) return JSON.stringify([...value].sort());
  if (Array.isArray(value)) return value.length === 0 ? '' : JSON.stringify(value);
  return typeof value === 'bigint' ? `${value}ns` : JSON.stringify(value);
}
