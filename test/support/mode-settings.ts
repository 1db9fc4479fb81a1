import { type LocalDetector, parseNodePortAddresses } from '../../src/model/index.ts';
import type { ModeSettings } from '../../src/modes/index.ts';
import { type Family, parseCidr } from '../../src/net/index.ts';

const CIDRS = { IPv4: '10.244.0.0/16', IPv6: 'fd00:10:244::/48' } as const;

export function detectorFor(family: Family): LocalDetector | undefined {
  const cidr = parseCidr(CIDRS[family]);
  return cidr && { kind: 'source-cidr', cidr };
}

/** Settings of a mode for tests. */
export function modeSettingsFor(family: Family, overrides: Partial<ModeSettings> = {}): ModeSettings {
  return {
    localDetector: detectorFor(family),
    masqueradeAll: false,
    masqueradeMark: 0x4000,
    nodePortAddresses: parseNodePortAddresses(family, []),
    nodePortIPs: [],
    serviceCIDRs: ['10.96.0.0/12', 'fd00:10:96::/108'],
    ...overrides,
  };
}
