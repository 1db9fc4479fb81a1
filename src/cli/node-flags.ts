import { hostname } from 'node:os';
import { nodeNameFrom } from '../model/index.ts';
import { DEFAULT_PLAN_SETTINGS, type PlanSettings } from '../plan/index.ts';
import type { ProxyMode } from '../proxy/index.ts';
import { bool, FlagError, type FlagValues, string, stringSlice } from './flags/index.ts';

const NONE: readonly string[] = [];

/** Flags of every command that plans: where the objects are, and what is to be known of the node. */
export const NODE_FLAGS = {
  manifests: { type: string, default: '', word: 'DIR', usage: 'folder or file of manifests to read (needed)' },
  'hostname-override': { type: string, default: '', word: 'NAME', usage: "the node's name (default this machine's)" },
  'bind-address': { type: string, default: '', word: 'IP', usage: "the node's address, if the Node does not say it" },
  'cluster-cidr': { type: stringSlice, default: NONE, word: 'CIDRS', usage: 'pod ranges of the cluster' },
  'detect-local-mode': {
    type: string,
    default: 'ClusterCIDR',
    word: 'MODE',
    usage: 'ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix',
  },
  'pod-bridge-interface': { type: string, default: '', word: 'NAME', usage: 'for detect-local-mode BridgeInterface' },
  'pod-interface-name-prefix': {
    type: string,
    default: '',
    word: 'PREFIX',
    usage: 'for detect-local-mode InterfaceNamePrefix',
  },
  'masquerade-all': { type: bool, default: false, usage: 'masquerade all traffic to cluster IPs' },
  'nodeport-addresses': {
    type: stringSlice,
    default: NONE,
    word: 'CIDRS',
    usage: "addresses that accept node ports: ranges, or primary for the node's own (default)",
  },
};

type NodeFlagValues = FlagValues<typeof NODE_FLAGS>;

export function manifestsFlag({ manifests }: Pick<NodeFlagValues, 'manifests'>): string {
  if (!manifests) throw new FlagError('required flag "manifests" not set: name a folder of manifests');
  return manifests;
}

export function nodeNameFlag(values: NodeFlagValues): string {
  return nodeNameFrom(values['hostname-override'], hostname()) ?? 'localhost';
}

/** Where nothing is said, nftables mode has the node's own addresses and the others have all. */
export function nodePortAddressesFlag(values: NodeFlagValues, mode: ProxyMode = 'nftables'): readonly string[] {
  const addresses = values['nodeport-addresses'];
  return addresses.length > 0 || mode !== 'nftables' ? addresses : ['primary'];
}

export function planSettings(values: NodeFlagValues): PlanSettings {
  return {
    ...DEFAULT_PLAN_SETTINGS,
    mode: values['detect-local-mode'],
    clusterCIDRs: values['cluster-cidr'],
    bridgeInterface: values['pod-bridge-interface'],
    interfaceNamePrefix: values['pod-interface-name-prefix'],
    bindAddress: values['bind-address'] || DEFAULT_PLAN_SETTINGS.bindAddress,
    masqueradeAll: values['masquerade-all'],
  };
}
