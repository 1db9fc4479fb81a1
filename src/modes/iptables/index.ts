import { type ModeBehaviour, PLAN_BEHAVIOUR } from '../behaviour.ts';
import type { ModeDescriptor } from '../descriptor.ts';
import { iptablesFamilies } from '../iptables-programs.ts';
import { cleanupIptables } from './cleanup.ts';
import { IptablesMode, type IptablesOptions } from './mode.ts';
import { Chain } from './names.ts';
import { previewIptables } from './preview.ts';
import { IPTABLES_OWN_RULES } from './rules/own-rules.ts';
import { prepareIptables } from './support.ts';

export const iptables: ModeDescriptor<IptablesOptions> = {
  name: 'iptables',
  optionsFrom: ({ iptables: { localhostNodePorts } }, { countConnections, keepNodeSourcePorts }) => ({
    countConnections,
    localhostNodePorts,
    keepNodeSourcePorts,
  }),
  supportedFamilies: iptablesFamilies,
  prepare: prepareIptables,
  create: (options, context) => new IptablesMode({ ...options, ...context }),
  preview: previewIptables,
  cleanup: cleanupIptables,
  markerChain: Chain.NODEPORTS,
  ownRules: IPTABLES_OWN_RULES,
  hasPartialSyncMetrics: true,
  algorithms: ['random', 'round-robin', 'weighted'],
  behaviour,
};

function behaviour({ localhostNodePorts = true, keepNodeSourcePorts = false }: IptablesOptions): ModeBehaviour {
  return {
    ...PLAN_BEHAVIOUR,
    choice: { kind: 'random', turnsLimit: 'with iptables-legacy the choice is random' },
    // Without endpoints, a Service has no chain for its source ranges.
    guardsWithoutEndpoints: 'none',
    // KUBE-EXTERNAL-SERVICES, which rejects, is not part of OUTPUT.
    rejectsNodeAtExternalIPs: false,
    loopbackNodePorts: localhostNodePorts ? 'ipv4' : 'none',
    refusesNodePortsAtAllAddresses: true,
    sharesFrontends: true,
    marksMasqueraded: true,
    keepsNodeSourcePorts: keepNodeSourcePorts,
  };
}

export { IptablesMode, type IptablesModeOptions } from './mode.ts';
