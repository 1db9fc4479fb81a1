import { hostname } from 'node:os';
import { NONE } from '../lib/none.ts';
import { nodeNameFrom } from '../model/index.ts';
import { MODES, type ModeDescriptor, modeNamed } from '../modes/index.ts';
import { DEFAULT_PLAN_SETTINGS, type PlanSettings } from '../plan/index.ts';
import { oneOf } from './command.ts';
import { bool, FlagError, type FlagValues, string, stringSlice } from './flags/index.ts';

/** Flags of the commands that plan: the manifests, and the settings of the node. */
export const NODE_FLAGS = {
  manifests: { type: string, default: '', word: 'DIR', usage: 'folder or file with manifests (required)' },
  'allow-loopback-endpoints': {
    type: bool,
    default: false,
    usage: 'accept endpoints at loopback and link-local addresses',
  },
  'hostname-override': {
    type: string,
    default: '',
    word: 'NAME',
    usage: 'name of the node (default: host name of this machine)',
  },
  'bind-address': {
    type: string,
    default: '',
    word: 'IP',
    usage: 'primary address of the node (default: from the Node object)',
  },
  'cluster-cidr': {
    type: stringSlice,
    default: NONE,
    word: 'CIDRS',
    usage: 'address ranges of the pods in the cluster',
  },
  'detect-local-mode': {
    type: string,
    default: 'ClusterCIDR',
    word: 'MODE',
    usage: 'how to detect local traffic: ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix',
  },
  'pod-bridge-interface': {
    type: string,
    default: '',
    word: 'NAME',
    usage: 'bridge of the pods, for detect-local-mode BridgeInterface',
  },
  'pod-interface-name-prefix': {
    type: string,
    default: '',
    word: 'PREFIX',
    usage: 'prefix of the interface names of pods, for detect-local-mode InterfaceNamePrefix',
  },
  'masquerade-all': { type: bool, default: false, usage: 'masquerade all traffic to cluster IPs' },
  'nodeport-addresses': {
    type: stringSlice,
    default: NONE,
    word: 'CIDRS',
    usage: 'address ranges that accept node ports; also the keywords primary, localhost and all',
  },
};

type NodeFlagValues = FlagValues<typeof NODE_FLAGS>;

export function manifestsFlag({ manifests }: Pick<NodeFlagValues, 'manifests'>): string {
  if (!manifests) throw new FlagError('required flag "manifests" not set: it names a folder or file with manifests');
  return manifests;
}

/** Throws a FlagError that names all modes. */
export function modeFlag(values: { readonly 'proxy-mode': string }): ModeDescriptor {
  const names = MODES.map(({ name }) => name);
  const mode = modeNamed(oneOf(names, values['proxy-mode'], '"--proxy-mode" flag'));
  if (!mode) throw new RangeError('the registry has no mode of this name');
  return mode;
}

export function nodeNameFlag(values: NodeFlagValues): string {
  return nodeNameFrom(values['hostname-override'], hostname()) ?? 'localhost';
}

/** The addresses that the operator named, or the default of the mode. */
export function nodePortAddressesFlag(
  values: NodeFlagValues,
  { nodePortAddresses = [] }: Pick<ModeDescriptor, 'nodePortAddresses'>,
): readonly string[] {
  const addresses = values['nodeport-addresses'];
  return addresses.length > 0 ? addresses : nodePortAddresses;
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
