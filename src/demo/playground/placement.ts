import { cidrContains, FAMILIES, familyOf, type Ip } from '../../net/index.ts';
import { HOSTS, type HostName, lanIp, NODE_NUMBER, NODE_POD_RANGE, podNetwork } from './addresses.ts';

/** Where an endpoint's address lives. */
export type Placement =
  /** A pod that uses the machine's own address. */
  | { readonly kind: 'node' }
  | { readonly kind: 'host'; readonly host: HostName }
  /** A pod of its own on the node. */
  | { readonly kind: 'pod' }
  /** One more address of a machine, which stands for a pod there. */
  | { readonly kind: 'remote-pod'; readonly host: HostName };

export function placeOf(ip: Ip): Placement {
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
