import type { ModeDescriptor } from '../descriptor.ts';
import { iptablesFamilies } from '../iptables-programs.ts';
import { cleanupIpvs, hasIpvsLeftovers } from './cleanup.ts';
import { IpvsMode } from './mode.ts';
import { LINK } from './names.ts';
import { previewIpvs } from './preview.ts';
import { OWN_RULES } from './rules/jumps.ts';
import { type IpvsOptions, optionsFrom } from './settings/options.ts';
import { IPVS_DEPRECATION, ipvsUnavailable, prepareIpvs } from './support.ts';

export const ipvs: ModeDescriptor<IpvsOptions> = {
  name: 'ipvs',
  optionsFrom,
  supportedFamilies: log => iptablesFamilies(log),
  prepare: prepareIpvs,
  unavailable: ({ scheduler }, { namespace }) => ipvsUnavailable(scheduler, namespace),
  create: (options, context) => new IpvsMode({ ...options, ...context }),
  preview: previewIpvs,
  cleanup: cleanupIpvs,
  hasLeftovers: hasIpvsLeftovers,
  ownRules: OWN_RULES,
  link: LINK,
  startEvent: IPVS_DEPRECATION,
  deviation: { lacksShortCircuit: true, takesTurns: true },
};

export { IpvsMode, type IpvsModeOptions } from './mode.ts';
export type { IpvsOptions } from './settings/options.ts';
