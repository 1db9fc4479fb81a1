import { compareTexts } from '../../lib/compare-texts.ts';
import { formatDuration } from '../../lib/duration.ts';
import { goJson } from '../../lib/go-json.ts';
import { goQuote } from '../../lib/go-quote.ts';
import { parseCidr } from '../../net/index.ts';
import type { Configuration } from '../configuration.ts';
import { applyFeatureGates, defaultFeatureGates, type FeatureGates, isEnabled } from '../feature-gates.ts';
import { validateHostPort, validateIp, validateNotNegative, validatePositive } from './checks.ts';
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
    ...validateMode(`${path}.Mode`, mode, gates),
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

/** Upstream has no ebpf and no userspace mode, and its error text does not name them. We keep that text. */
function validateMode(path: string, mode: string, gates: FeatureGates): FieldError[] {
  const modes = isEnabled(gates, 'KubeProxyIPVS') ? ['iptables', 'ipvs', 'nftables'] : ['iptables', 'nftables'];
  if (['', ...modes, 'ebpf', 'userspace'].includes(mode)) return [];
  const blank = 'blank (blank means the best-available proxy [currently iptables])';
  return [invalid(`${path}.ProxyMode`, goQuote(mode), `must be ${modes.join(', ')} or ${blank}`)];
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

const NODE_PORT_KEYWORDS = ['primary', 'localhost', 'all'];

/** Accepts CIDRs and keywords in any order. A keyword may be there only once. */
function validateNodePortAddresses(path: string, addresses: readonly string[]): FieldError[] {
  const detail = "must be a valid CIDR or one of the keywords 'primary', 'localhost', 'all'";
  return addresses.flatMap((address, index): FieldError[] => {
    const place = `${path}[${index}]`;
    if (NODE_PORT_KEYWORDS.includes(address)) {
      const isRepeated = addresses.indexOf(address) < index;
      return isRepeated ? [{ kind: 'duplicate', path: place, value: goQuote(address) }] : [];
    }
    return parseCidr(address) === undefined ? [invalid(place, goQuote(address), detail)] : [];
  });
}

/**
 * A release can still show metrics that it hides, if the operator names the release before it. Upstream v1.36 accepts
 * 1.35, v1.37 accepts 1.36.
 */
const PREVIOUS_MINORS = ['1.35', '1.36'];

function validateShowHiddenMetrics(path: string, version: string): FieldError[] {
  if (version === '' || PREVIOUS_MINORS.includes(version)) return [];
  const shown = goQuote(version);
  const rule = `must be omitted or have the value '${PREVIOUS_MINORS.at(-1)}'; only the previous minor version is allowed`;
  const name = 'showHiddenMetricsForVersion';
  return [invalid(path, shown, `invalid ${name}: ${name}: Invalid value: ${shown}: ${rule}`)];
}
