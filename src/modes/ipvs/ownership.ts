import { type Element, L4 } from '../../kernel/ipset/index.ts';
import type { ServiceKey } from '../../kernel/ipvs/index.ts';
import { type Cidr, cidrContains, cidrFamily, familyOf } from '../../net/index.ts';
import type { SetKey } from './sets.ts';

/** What was found in the kernel before anything was written. */
export interface Found {
  hasElement(set: SetKey, element: Element): boolean;
  /** Whether kube-ipvs0 has the address. */
  hasAddress(ip: string): boolean;
}

const ADDRESS_SETS: readonly SetKey[] = ['clusterIP', 'externalIP', 'externalIPLocal', 'loadBalancer'];

/**
 * Whether a virtual server is of a proxy's making: its address is on kube-ipvs0, or it is in the sets, which are filled
 * before virtual servers are made and emptied after they are deleted. All others are somebody else's.
 */
export function isOwn(key: ServiceKey, found: Found, excluded: readonly Cidr[]): boolean {
  if (key.kind !== 'address') return false;
  const { address: ip, port, protocol } = key;
  if (excluded.some(cidr => cidrFamily(cidr) === familyOf(ip) && cidrContains(cidr, ip))) return false;
  if (found.hasAddress(ip)) return true;
  const element = { kind: 'hash:ip,port', ip, protocol: L4[protocol], port } as const;
  const isNodePort =
    protocol === 'SCTP'
      ? found.hasElement('nodePortSCTP', element)
      : found.hasElement(`nodePort${protocol}`, { kind: 'bitmap:port', port });
  return isNodePort || ADDRESS_SETS.some(set => found.hasElement(set, element));
}
