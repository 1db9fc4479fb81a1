import { type EndpointSlice, LABEL_SERVICE_NAME, objectKey, type TargetRef } from '../api/index.ts';
import { familyOf, type Ip, parseIp } from '../net/index.ts';
import type { Facts } from './facts.ts';
import { scan } from './scan.ts';

/** What an EndpointSlice says about the address of an endpoint, beside what plans need. */
export interface EndpointPlace {
  /** `ns/slice` */
  readonly slice: string;
  readonly targetRef: TargetRef | undefined;
  readonly node: string | undefined;
  readonly zone: string | undefined;
}

/** The places of all endpoints of some slices, by address. */
export function placesOf(slices: Iterable<EndpointSlice>): ReadonlyMap<string, EndpointPlace> {
  const places = new Map<string, EndpointPlace>();
  for (const slice of slices) {
    for (const { addresses, targetRef, nodeName, zone } of slice.endpoints) {
      const ip = parseIp(addresses[0] ?? '');
      if (ip !== undefined) places.set(ip, { slice: objectKey(slice.metadata), targetRef, node: nodeName, zone });
    }
  }
  return places;
}

/** `web-0` for a pod of the namespace, `shop/web-0` for others, `Node node-a` for other kinds. Empty if not known. */
export function targetName(target: TargetRef | undefined, namespace: string): string {
  if (!target || target.name === '') return '';
  const name = target.namespace === '' || target.namespace === namespace ? target.name : objectKey(target);
  return target.kind === '' || target.kind === 'Pod' ? name : `${target.kind} ${name}`;
}

export interface FoundPod extends EndpointPlace {
  readonly ips: readonly Ip[];
}

/** Finds a pod by the EndpointSlices that name it. A proxy does not watch pods, so it knows no others. */
export async function findPod(objects: Facts['objects'], pod: string): Promise<FoundPod | undefined> {
  const ips = new Set<Ip>();
  let found: EndpointPlace | undefined;
  await scan(objects.slices(), slice => {
    for (const { targetRef, addresses, nodeName, zone } of slice.endpoints) {
      if (!targetRef || podKey(targetRef, slice.metadata.namespace) !== pod) continue;
      const ip = parseIp(addresses[0] ?? '');
      if (ip !== undefined) ips.add(ip);
      found ??= { targetRef, node: nodeName, zone, slice: objectKey(slice.metadata) };
    }
    return false;
  });
  return found && { ips: [...ips], ...found };
}

export interface FoundEndpoint extends EndpointPlace {
  /** `ns/name` of the Service, or undefined if the slice names none. */
  readonly service: string | undefined;
}

/** Finds the endpoints that have an address. Stops after a few. */
export async function findEndpoints(objects: Facts['objects'], ip: Ip, max: number): Promise<readonly FoundEndpoint[]> {
  const found: FoundEndpoint[] = [];
  const family = familyOf(ip);
  // An API server writes IPv4 addresses in one way only, so it suffices to compare texts.
  const isHere = (text = '') => text === ip || (family === 'IPv6' && parseIp(text) === ip);
  await scan(objects.slices(), slice => {
    if (slice.addressType !== family) return false;
    for (const { addresses, targetRef, nodeName, zone } of slice.endpoints) {
      if (!isHere(addresses[0])) continue;
      const name = slice.metadata.labels[LABEL_SERVICE_NAME];
      const service = name ? objectKey({ namespace: slice.metadata.namespace, name }) : undefined;
      found.push({ slice: objectKey(slice.metadata), targetRef, node: nodeName, zone, service });
      break;
    }
    return found.length >= max;
  });
  return found;
}

/** `ns/name` of a pod. A reference without a namespace is in that of its slice. Undefined for other objects. */
export function podKey({ kind, namespace, name }: TargetRef, sliceNamespace: string): string | undefined {
  if (name === '' || (kind !== '' && kind !== 'Pod')) return undefined;
  return objectKey({ namespace: namespace || sliceNamespace, name });
}
