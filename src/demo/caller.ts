import type { Caller, Place } from '../explain/index.ts';
import { compareTexts } from '../lib/compare-texts.ts';
import type { Family, Ip } from '../net/index.ts';
import { endpointsOf } from '../plan/index.ts';
import type { ProxyState } from '../proxy/index.ts';

export type { Caller, Place } from '../explain/index.ts';

/** Where the demo makes connections from. */
export const PLACES: readonly Place[] = ['pod', 'node', 'outside'];

/** The addresses that the demo calls from. */
export type Callers = Readonly<Record<Place, Readonly<Record<Family, Ip>>>>;

/** The pod is an endpoint of some examples, so that it also reaches itself through a Service. */
export const DEFAULT_CALLERS: Callers = {
  pod: { IPv4: '10.244.1.10' as Ip, IPv6: 'fd00:10:244:1::10' as Ip },
  node: { IPv4: '192.168.0.2' as Ip, IPv6: 'fd00:192:168::2' as Ip },
  outside: { IPv4: '192.168.0.100' as Ip, IPv6: 'fd00:192:168::100' as Ip },
};

export function callerFrom(place: Place, family: Family, callers: Callers = DEFAULT_CALLERS): Caller {
  return { place, ip: callers[place][family] };
}

/**
 * Lets a pod of the node call that is an endpoint, so that the caller is in the cluster's own range. Without such a
 * pod, the former caller stays. `nodeIPs` are all addresses of the node.
 */
export function callersIn(state: ProxyState, nodeIPs: readonly Ip[], former: Callers): Callers {
  const pod = forFamilies(family => callingPod(state, family, nodeIPs, former));
  const node = forFamilies(family => {
    const ip = state.nodeOptions.nodeIPs[family];
    return nodeIPs.includes(ip) ? ip : former.node[family];
  });
  const callers = { ...former, pod, node };
  return JSON.stringify(callers) === JSON.stringify(former) ? former : callers;
}

function forFamilies(ipOf: (family: Family) => Ip): Readonly<Record<Family, Ip>> {
  return { IPv4: ipOf('IPv4'), IPv6: ipOf('IPv6') };
}

function callingPod(state: ProxyState, family: Family, nodeIPs: readonly Ip[], former: Callers): Ip {
  const local = [...state.family(family).model.services()]
    .flatMap(service => service.ports.flatMap(port => endpointsOf(service, port)))
    .filter(({ ip, isLocal }) => isLocal && !nodeIPs.includes(ip))
    .map(({ ip }) => ip);
  const current = former.pod[family];
  // A caller that changes would make all former results void. The default one has not been asked for.
  if (current !== DEFAULT_CALLERS.pod[family] || local.includes(current)) return current;
  return local.sort(compareTexts)[0] ?? current;
}
