import { defaultConfiguration } from '../../src/config/index.ts';
import { type NetworkNamespace, namespaceCookie } from '../../src/kernel/netns.ts';
import { ebpfAround } from '../../src/modes/ebpf/index.ts';
import { type ConfiguredMode, configuredMode, withOptions } from '../../src/modes/index.ts';
import { nftables } from '../../src/modes/nftables/index.ts';
import { testControlGroup } from './bpf-lab.ts';

export type LabMode = 'nftables' | 'iptables' | 'userspace' | 'ipvs' | 'ebpf';

/** A mode for a node of a test. ebpf mode serves only the sockets of this node, and pins nothing. */
export function labMode(mode: LabMode, node: NetworkNamespace): ConfiguredMode {
  if (mode !== 'ebpf') return configuredMode({ ...defaultConfiguration(), mode }, { countConnections: false });
  const listedNamespaces = [namespaceCookie(node)];
  const sockets = { sockets: 'all', cgroupRoot: testControlGroup(), bpffs: '/nowhere', listedNamespaces } as const;
  return withOptions(ebpfAround(nftables), { sockets, network: {} });
}
