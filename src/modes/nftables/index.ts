import { FAMILIES } from '../../net/index.ts';
import type { ModeDescriptor } from '../descriptor.ts';
import { cleanupNftables } from './cleanup.ts';
import { NftablesMode, type NftablesOptions } from './mode.ts';
import { previewNftables } from './preview.ts';
import { checkNftables } from './support.ts';

export const nftables: ModeDescriptor<NftablesOptions> = {
  name: 'nftables',
  optionsFrom: ({ featureGates }, { countConnections }) => ({
    countConnections,
    localhostNodePorts: featureGates.get('KubeProxyNFTablesLocalhostNodePorts') === true,
  }),
  async supportedFamilies() {
    checkNftables();
    return FAMILIES;
  },
  create: (options, context) => new NftablesMode({ ...options, ...context }),
  preview: previewNftables,
  cleanup: cleanupNftables,
  nodePortAddresses: ['primary'],
  hasPartialSyncMetrics: true,
};

export { NftablesMode, type NftablesModeOptions } from './mode.ts';
