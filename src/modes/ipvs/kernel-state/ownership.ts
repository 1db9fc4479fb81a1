import { type Element, L4 } from '../../../kernel/ipset/index.ts';
import type { ServiceKey } from '../../../kernel/ipvs/index.ts';
import { type Cidr, cidrContains, cidrFamily, familyOf } from '../../../net/index.ts';
import type { KnownServer } from '../diff.ts';
import type { SetKey } from '../names.ts';
import { sameService } from '../wanted/virtual-server.ts';

/** What was found in the kernel before anything was written. */
export interface Found {
  hasElement(set: SetKey, element: Element): boolean;
  /** Whether kube-ipvs0 has the address. */
  hasAddress(ip: string): boolean;
  /** Whether another link of this machine has the address. */
  isNodeIP(ip: string): boolean;
}

/** Whose a virtual server is. That of one that is `unclear` shows by its real servers: see `isLeftOver`. */
export type Owner = 'us' | 'unclear' | 'others';

const ADDRESS_SETS: readonly SetKey[] = ['clusterIP', 'externalIP', 'externalIPLocal', 'loadBalancer', 'nodePortSCTP'];

/**
 * A virtual server is of a proxy's making if its address is on kube-ipvs0, or it is in the sets, which are filled before
 * virtual servers are made and emptied after they are deleted. The sets of node ports have no addresses: there it must be
 * one of this machine. All others are somebody else's.
 */
export function ownerOf(key: ServiceKey, found: Found, excluded: readonly Cidr[]): Owner {
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
 * Whether a virtual server at a node port was made when this machine had its address: it has real servers, and one of
 * ours is like it and has all of them too, as a node port's Service has at its cluster IP. Without real servers it is
 * left, which does no harm: packets to an address that this machine lacks do not get there.
 */
export function isLeftOver({ service, destinations }: KnownServer, own: Iterable<KnownServer>): boolean {
  if (destinations.size === 0 || ![...destinations.values()].every(({ isPlain }) => isPlain)) return false;
  const names = [...destinations.keys()];
  const isLike = (other: KnownServer) =>
    protocolOf(other.service.key) === protocolOf(service.key) &&
    sameService(other.service, service) &&
    names.every(name => other.destinations.has(name));
  return [...own].some(isLike);
}

function protocolOf(key: ServiceKey): string | undefined {
  return key.kind === 'address' ? key.protocol : undefined;
}
