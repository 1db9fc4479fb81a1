import { DEFAULT_PLAN_SETTINGS, type PlanSettings } from '../../src/plan/index.ts';
import { type Mode, networkOf } from './modes.ts';
import type { Configuration } from './recorded-case.ts';

/** The settings of a proxy for a case. */
export interface CaseSettings {
  readonly mode: Mode;
  readonly plan: PlanSettings;
  /** CIDRs, or the single word `primary`. Empty means all addresses. */
  readonly nodePortAddresses: readonly string[];
  /** iptables only. */
  readonly localhostNodePorts: boolean;
  /** ipvs only. */
  readonly scheduler: string;
  readonly strictARP: boolean;
}

const CLUSTER_CIDR = '10.244.0.0/16,fd00:10:244::/48';

export function caseSettings(configuration: Configuration, mode: Mode): CaseSettings {
  const { detectLocal, iptables, ipvs } = configuration;
  return {
    mode,
    plan: {
      ...DEFAULT_PLAN_SETTINGS,
      mode: configuration.detectLocalMode ?? 'ClusterCIDR',
      clusterCIDRs: (configuration.clusterCIDR ?? CLUSTER_CIDR).split(',').filter(Boolean),
      bridgeInterface: detectLocal?.bridgeInterface ?? '',
      interfaceNamePrefix: detectLocal?.interfaceNamePrefix ?? '',
      masqueradeAll: masqueradeAll(configuration, mode),
    },
    nodePortAddresses: configuration.nodePortAddresses ?? (networkOf(mode) === 'nftables' ? ['primary'] : []),
    localhostNodePorts: iptables?.localhostNodePorts ?? true,
    scheduler: ipvs?.scheduler ?? '',
    strictARP: ipvs?.strictARP ?? false,
  };
}

/** ipvs mode has no setting of its own and uses that of iptables mode. */
function masqueradeAll({ nftables, iptables }: Configuration, mode: Mode): boolean {
  return (networkOf(mode) === 'nftables' ? nftables : iptables)?.masqueradeAll ?? false;
}
