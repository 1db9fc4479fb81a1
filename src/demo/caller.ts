import type { Family, Ip } from '../net/index.ts';

/** Where the demo makes connections from. */
export type Place = 'pod' | 'node' | 'outside';

export const PLACES: readonly Place[] = ['pod', 'node', 'outside'];

/** The machine or pod that makes a connection. */
export interface Caller {
  readonly place: Place;
  readonly ip: Ip;
}

/** The pod is an endpoint of some examples, so that it also reaches itself through a Service. */
const IPS: Readonly<Record<Place, Readonly<Record<Family, Ip>>>> = {
  pod: { IPv4: '10.244.1.10' as Ip, IPv6: 'fd00:10:244:1::10' as Ip },
  node: { IPv4: '192.168.0.2' as Ip, IPv6: 'fd00:192:168::2' as Ip },
  outside: { IPv4: '192.168.0.100' as Ip, IPv6: 'fd00:192:168::100' as Ip },
};

export function callerFrom(place: Place, family: Family): Caller {
  return { place, ip: IPS[place][family] };
}
