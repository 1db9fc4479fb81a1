import { hostname } from 'node:os';
import { nodeNameFrom } from '../model/index.ts';
import { DEFAULT_PLAN_SETTINGS, type PlanSettings } from '../plan/index.ts';
import type { ModeName } from '../proxy/index.ts';
import { boolFlag, FlagError, type FlagSpec, type FlagValues, listFlag, stringFlag } from './flags.ts';

/** Flags of every command that plans: where the objects are, and what is to be known of the node. */
export const NODE_FLAGS: readonly FlagSpec[] = [
  { name: 'manifests', type: 'string', value: 'DIR', usage: 'folder or file of manifests to read (needed)' },
  { name: 'hostname-override', type: 'string', value: 'NAME', usage: "the node's name (default this machine's)" },
  { name: 'bind-address', type: 'string', value: 'IP', usage: "the node's address, if the Node does not say it" },
  { name: 'cluster-cidr', type: 'stringSlice', value: 'CIDRS', usage: 'pod ranges of the cluster' },
  {
    name: 'detect-local-mode',
    type: 'string',
    value: 'MODE',
    usage: 'ClusterCIDR, NodeCIDR, BridgeInterface or InterfaceNamePrefix',
  },
  { name: 'pod-bridge-interface', type: 'string', value: 'NAME', usage: 'for detect-local-mode BridgeInterface' },
  {
    name: 'pod-interface-name-prefix',
    type: 'string',
    value: 'PREFIX',
    usage: 'for detect-local-mode InterfaceNamePrefix',
  },
  { name: 'masquerade-all', type: 'bool', usage: 'masquerade all traffic to cluster IPs' },
  {
    name: 'nodeport-addresses',
    type: 'stringSlice',
    value: 'CIDRS',
    usage: "addresses that accept node ports: ranges, or primary for the node's own (default)",
  },
];

export function manifestsFlag(values: FlagValues): string {
  const path = stringFlag(values, 'manifests');
  if (!path) throw new FlagError('required flag "manifests" not set: name a folder of manifests');
  return path;
}

export function nodeNameFlag(values: FlagValues): string {
  return nodeNameFrom(stringFlag(values, 'hostname-override') ?? '', hostname()) ?? 'localhost';
}

/** ipvs mode has node ports at all addresses unless told otherwise. */
export function nodePortAddressesFlag(values: FlagValues): readonly string[] {
  const addresses = listFlag(values, 'nodeport-addresses');
  return addresses.length > 0 || proxyModeFlag(values) === 'ipvs' ? addresses : ['primary'];
}

const MODES: readonly ModeName[] = ['nftables', 'ipvs'];

export function proxyModeFlag(values: FlagValues): ModeName {
  const text = stringFlag(values, 'proxy-mode') ?? 'nftables';
  const mode = MODES.find(name => name === text);
  if (!mode) throw new FlagError(`unknown proxy mode ${JSON.stringify(text)}: must be ${MODES.join(' or ')}`);
  return mode;
}

export function planSettings(values: FlagValues): PlanSettings {
  return {
    ...DEFAULT_PLAN_SETTINGS,
    mode: stringFlag(values, 'detect-local-mode') ?? DEFAULT_PLAN_SETTINGS.mode,
    clusterCIDRs: listFlag(values, 'cluster-cidr'),
    bridgeInterface: stringFlag(values, 'pod-bridge-interface') ?? '',
    interfaceNamePrefix: stringFlag(values, 'pod-interface-name-prefix') ?? '',
    bindAddress: stringFlag(values, 'bind-address') ?? DEFAULT_PLAN_SETTINGS.bindAddress,
    masqueradeAll: boolFlag(values, 'masquerade-all'),
  };
}
