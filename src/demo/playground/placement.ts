import { cidrContains, FAMILIES, familyOf, type Ip } from '../../net/index.ts';
import { HOSTS, type HostName, lanIp, NODE_NUMBER, NODE_POD_RANGE, podNetwork } from './addresses.ts';

/** Which machine has an endpoint's address. */
export type Placement =
  /** The node's own address, which a pod in the host network uses. */
  | { readonly kind: 'node' }
  | { readonly kind: 'host'; readonly host: HostName }
  /** A pod on the node, with a namespace of its own. */
  | { readonly kind: 'pod' }
  /** A pod of another machine, which is one more address of that machine. */
  | { readonly kind: 'remote-pod'; readonly host: HostName };

export function placementOf(ip: Ip): Placement {
  const family = familyOf(ip);
  if (FAMILIES.some(family => lanIp(family, NODE_NUMBER) === ip)) return { kind: 'node' };
  if (cidrContains(podNetwork(family, NODE_POD_RANGE), ip)) return { kind: 'pod' };
  for (const { name, number, podRange } of HOSTS) {
    if (lanIp(family, number) === ip) return { kind: 'host', host: name };
    if (podRange !== undefined && cidrContains(podNetwork(family, podRange), ip))
      return { kind: 'remote-pod', host: name };
  }
  throw new RangeError(`no machine of the cluster has ${ip}`);
}
