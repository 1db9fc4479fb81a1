import { type ModeBehaviour, PLAN_BEHAVIOUR } from '../behaviour.ts';
import type { ModeDescriptor } from '../descriptor.ts';
import { iptablesFamilies } from '../iptables-programs.ts';
import { cleanupIpvs, hasIpvsLeftovers } from './cleanup.ts';
import { lastConnectionsEnded } from './kernel-state/last-connections.ts';
import { IpvsMode } from './mode.ts';
import { LINK } from './names.ts';
import { previewIpvs } from './preview.ts';
import { OWN_RULES } from './rules/jumps.ts';
import { type IpvsOptions, optionsFrom } from './settings/options.ts';
import { IPVS_DEPRECATION, ipvsUnavailable, prepareIpvs } from './support.ts';
import { DEFAULT_SCHEDULER } from './wanted/scheduler.ts';

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
  lastConnectionsEnded,
  ownRules: OWN_RULES,
  link: LINK,
  startEvent: IPVS_DEPRECATION,
  algorithms: ['round-robin', 'least-connections', 'consistent-hash', 'weighted'],
  behaviour,
};

function behaviour({ scheduler }: IpvsOptions): ModeBehaviour {
  return {
    ...PLAN_BEHAVIOUR,
    choice: { kind: 'scheduler', scheduler: scheduler || DEFAULT_SCHEDULER },
    translatedBy: 'virtual servers',
    hasShortCircuit: false,
    withoutLocalEndpoints: 'cluster-endpoints',
    // The link of the mode has the addresses of Services, so the kernel takes the destination as the source too.
    ownSource: 'destination',
    // A virtual server without real servers refuses the node before a rule drops the answer.
    guardsWithoutEndpoints: 'all-but-node',
    rejectsUnknownPorts: 'at-all-addresses',
  };
}

export { IpvsMode, type IpvsModeOptions } from './mode.ts';
export type { IpvsOptions } from './settings/options.ts';
