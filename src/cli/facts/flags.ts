import { NONE } from '../../lib/none.ts';
import { DEFAULT_MODE, MODES } from '../../modes/index.ts';
import { bool, FlagError, type FlagValues, mapStringBool, string, stringSlice } from '../flags/index.ts';
import { MODE_OPTION_FLAGS } from '../node-flags.ts';

/** Where the objects come from, and which node it is. */
const SOURCE_FLAGS = {
  manifests: {
    type: string,
    default: '',
    word: 'DIR',
    usage: 'folder or file with manifests; - reads standard input',
  },
  kubeconfig: {
    type: string,
    default: '',
    word: 'FILE',
    usage: 'list the objects of the API server that this kubeconfig file names',
  },
  context: {
    type: string,
    default: '',
    word: 'NAME',
    usage: 'context of the kubeconfig file (default: its current context)',
  },
  config: {
    type: string,
    default: '',
    word: 'FILE',
    usage: 'configuration file of the proxy; flags override it',
  },
  node: {
    type: string,
    default: '',
    word: 'NAME',
    usage: 'name of the node (default: the only Node, or this machine)',
  },
  'hostname-override': { type: string, default: '', word: 'NAME', usage: 'the same as --node' },
  'allow-loopback-endpoints': {
    type: bool,
    default: false,
    usage: 'accept endpoints at loopback and link-local addresses in manifests',
  },
};

/** The settings of the proxy. Their defaults are those of the configuration file, if there is one. */
const SETTING_FLAGS = {
  'proxy-mode': {
    type: string,
    default: DEFAULT_MODE.descriptor.name,
    word: 'MODE',
    usage: `mode of the proxy: ${MODES.map(({ name }) => name).join(', ')}`,
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
  'feature-gates': {
    type: mapStringBool,
    default: new Map<string, boolean>(),
    word: 'GATES',
    usage: 'the feature gates of the proxy, such as AllowServiceExternalIPs=false',
  },
  ...MODE_OPTION_FLAGS,
};

/** The flags of the commands that read objects and settings without a running proxy. */
export const FACTS_FLAGS = { ...SOURCE_FLAGS, ...SETTING_FLAGS };

/** The flags of a command that has FACTS_FLAGS, as they were parsed. */
export interface FactsFlags {
  readonly values: FlagValues<typeof FACTS_FLAGS>;
  /** Names of the flags that are on the command line. */
  readonly changed: ReadonlySet<string>;
}

/** Whether the operator named a place to read objects from. */
export function namesSource({ values }: FactsFlags): boolean {
  return values.manifests !== '' || values.kubeconfig !== '';
}

/** Refuses the flags that say how to plan. A command that asks the running proxy would ignore them. */
export function refuseFactsFlags({ changed }: FactsFlags): void {
  const [flag] = Object.keys(FACTS_FLAGS).filter(name => changed.has(name));
  if (flag === undefined) return;
  throw new FlagError(
    `--${flag} needs --kubeconfig or --manifests: without them the proxy of this node answers, with its own settings`,
  );
}

/** The name of the node that the operator gave. Empty if there is none. */
export function nodeFlag({ values }: FactsFlags): string {
  const names = [values.node, values['hostname-override']].map(name => name.trim().toLowerCase());
  const [first, second] = names.filter(name => name !== '');
  if (first !== undefined && second !== undefined && first !== second) {
    throw new FlagError(`--node ${first} and --hostname-override ${second} name different nodes: give one of them`);
  }
  return first ?? '';
}
