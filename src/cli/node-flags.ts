import { ALGORITHMS, type Algorithm } from '../model/index.ts';
import { EBPF_SOCKETS, MODES, type ModeDescriptor, type ModeFlags, modeNamed } from '../modes/index.ts';
import { oneOf } from './command.ts';
import { bool, FlagError, type FlagValues, oneWordOf, string } from './flags/index.ts';

/** For commands that can only read manifests. */
export const MANIFESTS_FLAG = {
  manifests: { type: string, default: '', word: 'DIR', usage: 'folder or file with manifests (required)' },
};

export function manifestsFlag({ manifests }: { readonly manifests: string }): string {
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

/** Empty: the mode does what it does without a choice. */
export const NO_BALANCE: Algorithm | '' = '';

export const DEFAULT_BALANCE_FLAG = {
  type: oneWordOf<Algorithm | ''>(ALGORITHMS),
  default: NO_BALANCE,
  word: 'ALGORITHM',
  words: ALGORITHMS,
  usage: 'how connections get an endpoint if a Service does not choose (default: as the mode does)',
};

export const CGROUP_ROOT_FLAG = {
  type: string,
  default: '',
  word: 'PATH',
  usage: 'control group that ebpf mode serves (default: the root of the machine)',
};

/** The flags of the proxy that change what its mode writes, for commands that show that without a running proxy. */
export const MODE_OPTION_FLAGS = {
  'count-connections': { type: bool, default: false, usage: 'the rules of a proxy that runs with this flag' },
  'default-balance': DEFAULT_BALANCE_FLAG,
  'keep-node-source-ports': { type: bool, default: false, usage: 'the rules of a proxy that runs with this flag' },
  'ebpf-sockets': {
    type: oneWordOf(EBPF_SOCKETS),
    default: 'all' as const,
    word: 'SCOPE',
    words: EBPF_SOCKETS,
    usage: 'whose sockets ebpf mode translates: all or node',
  },
  'cgroup-root': CGROUP_ROOT_FLAG,
};

export function modeFlags(values: FlagValues<typeof MODE_OPTION_FLAGS>): ModeFlags {
  return {
    defaultBalance: values['default-balance'] || undefined,
    countConnections: values['count-connections'],
    keepNodeSourcePorts: values['keep-node-source-ports'],
    ebpfSockets: values['ebpf-sockets'],
    cgroupRoot: values['cgroup-root'] === '' ? undefined : values['cgroup-root'],
  };
}
