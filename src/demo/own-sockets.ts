import { OwnControlGroup } from '../kernel/bpf/index.ts';
import { type NetworkNamespace, namespaceCookie } from '../kernel/netns.ts';
import type { ConfiguredMode, SocketScope } from '../modes/index.ts';

/** What the mode serves at sockets must end with the demo, also if the demo is killed. */
const NO_PINS = '';

/** Moves this process into a new control group, if the mode serves sockets: it must not serve those of other processes. */
export function enterOwnGroup(mode: ConfiguredMode | undefined): OwnControlGroup | undefined {
  if (!mode?.descriptor.network) return undefined;
  const group = OwnControlGroup.enter();
  if ('missing' in group) throw new Error(group.missing);
  return group;
}

/** Only the sockets of this process in these namespaces. The mode asks for the namespaces when it loads programs. */
export function socketsIn({ path }: OwnControlGroup, namespaces: () => Iterable<NetworkNamespace>): SocketScope {
  return {
    cgroupRoot: path,
    bpffs: NO_PINS,
    listedNamespaces: {
      *[Symbol.iterator]() {
        for (const namespace of namespaces()) yield namespaceCookie(namespace);
      },
    },
  };
}
