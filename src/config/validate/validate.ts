import { goJson } from '../../lib/go-json.ts';
import type { Configuration } from '../configuration.ts';
import { applyFeatureGates, defaultFeatureGates } from '../feature-gates.ts';
import { validateAddresses } from './addresses.ts';
import { validateDetectLocal, validateDetectLocalMode } from './detect-local.ts';
import { type FieldError, invalid } from './field-error.ts';
import { validateShowHiddenMetrics } from './hidden-metrics.ts';
import { validateIpvs } from './ipvs.ts';
import { validateLinux } from './linux.ts';
import { validateLogging } from './logging.ts';
import { validateMode } from './mode.ts';
import { validateNodePortAddresses } from './node-port-addresses.ts';
import { validateNotNegative, validateRange } from './numbers.ts';
import { validatePeriods } from './periods.ts';
import { validateUserspace } from './userspace.ts';

/**
 * All that is wrong with a configuration, in the order and with the paths that kube-proxy has: the names of its internal
 * types rather than those of the fields in a file.
 */
export function validateConfiguration(configuration: Configuration): FieldError[] {
  const path = 'KubeProxyConfiguration';
  const { clientConnection, detectLocal, detectLocalMode, featureGates, linux, mode } = configuration;
  const applied = applyFeatureGates(featureGates);
  const gates = applied.kind === 'gates' ? applied.gates : defaultFeatureGates;
  return [
    ...(applied.kind === 'error' ? [invalid(`${path}.featureGates`, gatesText(featureGates), applied.message)] : []),
    ...validateMasqueradeBit(`${path}.KubeProxyIPTablesConfiguration`, configuration.iptables),
    ...validateSection(path, configuration),
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

/** Sections of other modes are not looked at, but for that of iptables. */
function validateSection(path: string, { mode, ipvs, nftables, userspace }: Configuration): FieldError[] {
  if (mode === 'userspace') return validateUserspace(path, userspace);
  if (mode === 'ipvs') return validateIpvs(`${path}.KubeProxyIPVSConfiguration`, ipvs);
  if (mode === 'nftables') return validateMasqueradeBit(`${path}.KubeProxyNFTablesConfiguration`, nftables);
  return [];
}

function validateMasqueradeBit(path: string, section: { readonly masqueradeBit: number | undefined }): FieldError[] {
  return validateRange(`${path}.MasqueradeBit`, section.masqueradeBit, 0, 31);
}

function gatesText(gates: ReadonlyMap<string, boolean>): string {
  return goJson(Object.fromEntries([...gates].sort(([a], [b]) => (a < b ? -1 : 1))));
}
