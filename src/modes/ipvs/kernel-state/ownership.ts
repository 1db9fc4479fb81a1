import { type Element, L4 } from '../../../kernel/ipset/index.ts';
import type { ServiceKey } from '../../../kernel/ipvs/index.ts';
import { type Cidr, cidrContains, cidrFamily, familyOf } from '../../../net/index.ts';
import type { KnownServer } from '../diff.ts';
import type { SetKey } from '../names.ts';
import { sameService } from '../wanted/virtual-server.ts';

/** What the kernel had before the mode wrote anything. */
export interface FoundObjects {
  hasElement(set: SetKey, element: Element): boolean;
  /** Whether kube-ipvs0 has the address. */
  hasAddress(ip: string): boolean;
  /** Whether another link of this machine has the address. */
  isNodeIP(ip: string): boolean;
}

/** `us`: the mode, in this or an earlier process. `unclear`: the real servers decide, see `isLeftOver`. */
export type Owner = 'us' | 'unclear' | 'others';

const ADDRESS_SETS: readonly SetKey[] = ['clusterIP', 'externalIP', 'externalIPLocal', 'loadBalancer', 'nodePortSCTP'];

/**
 * The owner of a virtual server. It is the mode if kube-ipvs0 has the address, or if the sets have the virtual server:
 * the mode adds elements before it makes virtual servers, and deletes elements after them. The sets of node ports have
 * no addresses, so there the address must also be one of this machine.
 */
export function ownerOf(key: ServiceKey, found: FoundObjects, excluded: readonly Cidr[]): Owner {
  if (key.kind !== 'address') return 'others';
  const { address: ip, port, protocol } = key;
  if (excluded.some(cidr => cidrFamily(cidr) === familyOf(ip) && cidrContains(cidr, ip))) return 'others';
  if (found.hasAddress(ip)) return 'us';
  const element = { kind: 'hash:ip,port', ip, protocol: L4[protocol], port } as const;
  if (ADDRESS_SETS.some(set => found.hasElement(set, element))) return 'us';
  if (protocol === 'SCTP' || !found.hasElement(`nodePort${protocol}`, { kind: 'bitmap:port', port })) return 'others';
  return found.isNodeIP(ip) ? 'us' : 'unclear';
}

/**
 * Whether the mode made this virtual server at a node port while the machine had its address. It did if a virtual
 * server of its own is alike and has the same real servers, as the one at the cluster IP of the Service has. A virtual
 * server without real servers stays. That does no harm, because packets to an address that the machine lacks do not
 * reach it.
 */
export function isLeftOver({ service, destinations }: KnownServer, own: Iterable<KnownServer>): boolean {
  if (destinations.size === 0 || ![...destinations.values()].every(({ isPlain }) => isPlain)) return false;
  const names = [...destinations.keys()];
  const isAlike = (other: KnownServer) =>
    protocolOf(other.service.key) === protocolOf(service.key) &&
    sameService(other.service, service) &&
    names.every(name => other.destinations.has(name));
  return [...own].some(isAlike);
}

function protocolOf(key: ServiceKey): string | undefined {
  return key.kind === 'address' ? key.protocol : undefined;
}
