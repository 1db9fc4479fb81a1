import { compareTexts } from '../../lib/compare-texts.ts';
import { formatDuration } from '../../lib/duration.ts';
import { goJson } from '../../lib/go-json.ts';
import { goQuote } from '../../lib/go-quote.ts';
import type { Configuration } from '../configuration.ts';
import { applyFeatureGates, defaultFeatureGates } from '../feature-gates.ts';
import { validateCidrs, validateHostPort, validateIp, validateNotNegative, validatePositive } from './checks.ts';
import { type FieldError, invalid } from './field-error.ts';
import { validateLogging } from './logging.ts';
import {
  validateDetectLocal,
  validateDetectLocalMode,
  validateLinux,
  validateMasqueradeBit,
  validateModeSection,
} from './sections.ts';

/**
 * Returns all errors of a configuration, in kube-proxy's order. Paths are kube-proxy's too: they name its internal
 * types, not the fields of a file.
 */
export function validateConfiguration(configuration: Configuration): FieldError[] {
  const path = 'KubeProxyConfiguration';
  const { clientConnection, detectLocal, detectLocalMode, featureGates, linux, mode } = configuration;
  const applied = applyFeatureGates(featureGates);
  const gates = applied.kind === 'gates' ? applied.gates : defaultFeatureGates;
  return [
    ...(applied.kind === 'error' ? [invalid(`${path}.featureGates`, gatesText(featureGates), applied.message)] : []),
    // Upstream checks this bit in every mode.
    ...validateMasqueradeBit(`${path}.KubeProxyIPTablesConfiguration`, configuration.iptables),
    ...validateModeSection(path, configuration),
    ...validateLinux(`${path}.KubeProxyLinuxConfiguration`, linux),
    ...validateMode(`${path}.Mode`, mode),
    ...validateNotNegative(`${path}.ClientConnection.Burst`, clientConnection.burst),
    ...validatePeriods(path, configuration),
    ...validateAddresses(path, configuration),
    ...validateNodePortAddresses(`${path}.NodePortAddresses`, configuration.nodePortAddresses ?? []),
    ...validateShowHiddenMetrics(`${path}.ShowHiddenMetricsForVersion`, configuration.showHiddenMetricsForVersion),
    ...validateDetectLocalMode(`${path}.DetectLocalMode`, detectLocalMode),
    ...validateDetectLocal(`${path}.DetectLocalConfiguration`, detectLocalMode, detectLocal),
    ...validateLogging(`${path}.logging`, configuration.logging, gates),
  ];
}

function gatesText(gates: ReadonlyMap<string, boolean>): string {
  return goJson(Object.fromEntries([...gates].sort(([a], [b]) => compareTexts(a, b))));
}

/** Upstream has no userspace mode, and its error text does not name it. We keep that text. */
const PROXY_MODES = ['', 'iptables', 'ipvs', 'nftables', 'userspace'];

function validateMode(path: string, mode: string): FieldError[] {
  if (PROXY_MODES.includes(mode)) return [];
  const blank = 'blank (blank means the best-available proxy [currently iptables])';
  return [invalid(`${path}.ProxyMode`, goQuote(mode), `must be iptables, ipvs, nftables or ${blank}`)];
}

function validatePeriods(path: string, configuration: Configuration): FieldError[] {
  const { configSyncPeriod, syncPeriod, minSyncPeriod } = configuration;
  const errors = [
    ...validatePositive(`${path}.ConfigSyncPeriod`, configSyncPeriod),
    ...validatePositive(`${path}.SyncPeriod`, syncPeriod),
    ...validateNotNegative(`${path}.MinSyncPeriod`, minSyncPeriod),
  ];
  if (minSyncPeriod <= syncPeriod) return errors;
  // Upstream names syncPeriod in the path and shows the value of minSyncPeriod.
  const detail = `must be greater than or equal to ${path}.MinSyncPeriod`;
  return [...errors, invalid(`${path}.SyncPeriod`, goQuote(formatDuration(minSyncPeriod)), detail)];
}

function validateAddresses(path: string, configuration: Configuration): FieldError[] {
  const { bindAddress, healthzBindAddress, metricsBindAddress } = configuration;
  return [
    ...validateIp(`${path}.BindAddress`, bindAddress),
    // An empty address switches the health server off. The metrics server cannot be switched off.
    ...(healthzBindAddress === '' ? [] : validateHostPort(`${path}.HealthzBindAddress`, healthzBindAddress)),
    ...validateHostPort(`${path}.MetricsBindAddress`, metricsBindAddress),
  ];
}

/** Accepts CIDRs, or `primary` alone. Entries after `primary` are not checked. */
function validateNodePortAddresses(path: string, addresses: readonly string[]): FieldError[] {
  const primary = addresses.indexOf('primary');
  const cidrs = primary < 0 ? addresses : addresses.slice(0, primary);
  const errors = validateCidrs(path, cidrs, 'must be a valid CIDR');
  if (primary < 0 || addresses.length === 1) return errors;
  return [...errors, invalid(`${path}[${primary}]`, goQuote('primary'), "can't use both 'primary' and CIDRs")];
}

/** This release can still show metrics that it hides, if the operator names the release before it. */
const PREVIOUS_MINOR = '1.35';

function validateShowHiddenMetrics(path: string, version: string): FieldError[] {
  if (version === '' || version === PREVIOUS_MINOR) return [];
  const shown = goQuote(version);
  const rule = `must be omitted or have the value '${PREVIOUS_MINOR}'; only the previous minor version is allowed`;
  const name = 'showHiddenMetricsForVersion';
  return [invalid(path, shown, `invalid ${name}: ${name}: Invalid value: ${shown}: ${rule}`)];
}
