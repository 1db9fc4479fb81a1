import {
  parseNodePortAddresses,
  resolveNodePortKeywords,
  type ServiceState,
  selectNodePortIPs,
} from '../model/index.ts';
import type { ModeSettings } from '../modes/index.ts';
import type { Family, Ip } from '../net/index.ts';
import { endpointsOf } from '../plan/index.ts';
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
  const addresses = parseNodePortAddresses(
    family,
    resolveNodePortKeywords(input.nodePortAddresses, nodeOptions.nodeIPs),
  );
  const ips = addresses.matchAll ? [] : selectNodePortIPs(addresses, input.interfaceIPs());
  return {
    localDetector,
    masqueradeAll,
    masqueradeMark: (1 << input.masqueradeBit) >>> 0,
    nodePortAddresses: addresses,
    nodePortIPs: [...ips].sort(),
    serviceCIDRs: serviceCidrs,
    endpointCount: () => endpointCount(state.family(family).model.services()),
  };
}

function endpointCount(services: Iterable<ServiceState>): number {
  let count = 0;
  for (const service of services) for (const port of service.ports) count += endpointsOf(service, port).length;
  return count;
}
