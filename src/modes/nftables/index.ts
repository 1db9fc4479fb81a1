import { applyFeatureGates } from '../../config/index.ts';
import { ALGORITHMS } from '../../model/index.ts';
import { FAMILIES } from '../../net/index.ts';
import { PLAN_BEHAVIOUR } from '../behaviour.ts';
import type { ModeDescriptor } from '../descriptor.ts';
import { cleanupNftables } from './cleanup.ts';
import { NftablesMode, type NftablesOptions } from './mode.ts';
import { previewNftables } from './preview.ts';
import { checkNftables } from './support.ts';

/** A feature gate of upstream that is off by default. */
const LOCALHOST_NODE_PORTS = 'KubeProxyNFTablesLocalhostNodePorts';

export const nftables: ModeDescriptor<NftablesOptions> = {
  name: 'nftables',
  optionsFrom: ({ featureGates }, { countConnections, keepNodeSourcePorts }) => {
    const applied = applyFeatureGates(featureGates);
    const isOn = applied.kind === 'gates' && applied.gates.enabled.get(LOCALHOST_NODE_PORTS) === true;
    return { countConnections, keepNodeSourcePorts, localhostNodePorts: isOn };
  },
  async supportedFamilies() {
    checkNftables();
    return FAMILIES;
  },
  create: (options, context) => new NftablesMode({ ...options, ...context }),
  preview: previewNftables,
  cleanup: cleanupNftables,
  nodePortAddresses: ['primary'],
  hasPartialSyncMetrics: true,
  algorithms: ALGORITHMS,
  needsConnectionFeedback: true,
  behaviour: ({ localhostNodePorts, keepNodeSourcePorts = false }) => ({
    ...PLAN_BEHAVIOUR,
    rejectsUnknownPorts: 'at-cluster-ips',
    dropsUnallocatedClusterIPs: true,
    keepsNodeSourcePorts: keepNodeSourcePorts,
    loopbackNodePorts: localhostNodePorts ? 'listeners' : 'none',
    loopbackAdvice: localhostNodePorts
      ? 'add localhost to nodePortAddresses'
      : `turn on the feature gate ${LOCALHOST_NODE_PORTS} and add localhost to nodePortAddresses`,
  }),
};

export { NftablesMode, type NftablesModeOptions } from './mode.ts';
