import { nodePortAddresses, nodePortIPs, resolvePrimary } from '../model/index.ts';
import type { ModeSettings } from '../modes/index.ts';
import { type Family, type Ip, isLoopback } from '../net/index.ts';
import type { ProxyState } from './proxy-state.ts';

export interface ModeSettingsInput {
  readonly nodePortAddresses: readonly string[];
  readonly masqueradeBit: number;
  /** This machine's addresses now. */
  readonly interfaceIPs: () => readonly Ip[];
}

/** What a mode needs to know besides the plans, from the configuration, the node and the machine. */
export function modeSettings(state: ProxyState, family: Family, input: ModeSettingsInput): ModeSettings {
  const { nodeOptions, serviceCidrs } = state;
  const { localDetector, masqueradeAll } = nodeOptions.families[family];
  const addresses = nodePortAddresses(family, resolvePrimary(input.nodePortAddresses, nodeOptions.nodeIPs));
  const ips = addresses.matchAll ? [] : nodePortIPs(addresses, input.interfaceIPs());
  return {
    localDetector,
    masqueradeAll,
    masqueradeMark: (1 << input.masqueradeBit) >>> 0,
    nodePortAddresses: addresses,
    nodePortIPs: ips.filter(ip => !isLoopback(ip)).sort(),
    serviceCIDRs: serviceCidrs,
  };
}
