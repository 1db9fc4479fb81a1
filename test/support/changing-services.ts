import { FAMILIES, type Family, type Ip } from '../../src/net/index.ts';
import type { EventTarget } from './cluster-events.ts';
import { service, slice } from './objects.ts';

/** What callers of a destination get at one moment. */
export interface Served {
  /** The Service that has the destination. Undefined if none has it. */
  readonly owner: string | undefined;
  readonly endpoints: readonly string[];
  readonly hasAffinity: boolean;
  readonly isLeastConnections: boolean;
}

/** One cluster IP. Services with different names have it one after another. */
interface Place {
  readonly number: number;
  readonly family: Family;
  /** Tells the Services of the place apart. They never have the same endpoints. */
  version: number;
  exists: boolean;
  endpoints: readonly string[];
  hasAffinity: boolean;
  isLeastConnections: boolean;
  nodePort: number;
}

const PLACES: readonly Family[] = ['IPv4', 'IPv4', 'IPv4', 'IPv4', 'IPv4', 'IPv6', 'IPv6'];
const VERSIONS = 3;
const MAX_ENDPOINTS = 4;
/** That of all endpoints. */
export const ENDPOINT_PORT = 8090;
const FIRST_NODE_PORT = 30001;
export const NODE_PORT_IP = '192.168.7.7' as Ip;

const LARGE = service('large', {
  clusterIP: '10.96.99.1',
  externalIPs: Array.from({ length: 4200 }, (_, i) => `10.97.${i >> 8}.${i & 255}`),
});

/** Services that change at random. `random` returns a number from 0 to 1. */
export class ChangingServices {
  readonly #target: EventTarget;
  readonly #random: () => number;
  readonly #places: readonly Place[];
  #hasLarge = false;

  constructor(target: EventTarget, random: () => number) {
    this.#target = target;
    this.#random = random;
    this.#places = PLACES.map((family, number) => ({
      number,
      family,
      version: 0,
      exists: true,
      endpoints: [],
      hasAffinity: number % 2 === 1,
      isLeastConnections: false,
      nodePort: family === 'IPv4' ? FIRST_NODE_PORT + number : 0,
    }));
    for (const place of this.#places) this.#setEndpoints(place);
    for (const place of this.#places) this.#write(place);
  }

  /** All endpoints that any Service ever has. */
  static endpoints(): readonly Ip[] {
    return PLACES.flatMap((family, number) =>
      Array.from({ length: VERSIONS }, (_, version) => endpointsOf(family, number, version)),
    ).flat() as Ip[];
  }

  /** First all cluster IPs, then all node ports. */
  static destinations(): readonly { readonly ip: Ip; readonly port: number }[] {
    const clusterIPs = PLACES.map((family, number) => ({ ip: clusterIP(family, number), port: 80 }));
    const nodePorts = PLACES.flatMap((family, number) =>
      family === 'IPv4' ? [{ ip: NODE_PORT_IP, port: FIRST_NODE_PORT + number }] : [],
    );
    return [...clusterIPs, ...nodePorts];
  }

  /** The number of the destination that is the cluster IP of a Service. */
  static clusterIPOf(owner: string): number {
    return Number(/^s(\d+)v/.exec(owner)?.[1]);
  }

  /** What callers of each destination get, in the order of `destinations`. */
  served(): readonly Served[] {
    return ChangingServices.destinations().map(({ port }, number) => {
      const place = this.#places.find(place => (port === 80 ? place.number === number : place.nodePort === port));
      if (!place?.exists) return { owner: undefined, endpoints: [], hasAffinity: false, isLeastConnections: false };
      const { endpoints, hasAffinity, isLeastConnections } = place;
      return { owner: nameOf(place), endpoints, hasAffinity, isLeastConnections };
    });
  }

  change(): void {
    const place = this.#pick(this.#places);
    const kind = this.#random();
    if (kind < 0.55) this.#setEndpoints(place);
    else if (kind < 0.65) this.#toggle(place);
    else if (kind < 0.8) this.#replace(place);
    else if (kind < 0.86) place.hasAffinity = !place.hasAffinity;
    else if (kind < 0.88) place.isLeastConnections = !place.isLeastConnections;
    else this.#swapNodePorts(place, this.#pick(this.#places));
    this.#write(place);
  }

  /** Adds or removes a Service with more frontends than the maps have room for at first. */
  changeLarge(): void {
    this.#hasLarge = !this.#hasLarge;
    if (this.#hasLarge) this.#target.setService(LARGE);
    else this.#target.deleteService('default/large');
  }

  #setEndpoints(place: Place): void {
    const all = endpointsOf(place.family, place.number, place.version);
    place.endpoints = all.filter(() => this.#random() < 0.6);
  }

  #toggle(place: Place): void {
    if (place.exists) this.#delete(place);
    place.exists = !place.exists;
  }

  #replace(place: Place): void {
    if (place.exists) this.#delete(place);
    place.version = (place.version + 1) % VERSIONS;
    place.exists = true;
    this.#setEndpoints(place);
  }

  #swapNodePorts(a: Place, b: Place): void {
    if (a.nodePort === 0 || b.nodePort === 0) return;
    [a.nodePort, b.nodePort] = [b.nodePort, a.nodePort];
    this.#write(b);
  }

  #delete(place: Place): void {
    this.#target.deleteService(`default/${nameOf(place)}`);
    this.#target.deleteEndpointSlice(`default/${nameOf(place)}-1`);
  }

  #write(place: Place): void {
    if (!place.exists) return;
    const { family, number, nodePort, hasAffinity, isLeastConnections } = place;
    this.#target.setService(
      service(nameOf(place), {
        clusterIP: clusterIP(family, number),
        ...(nodePort !== 0 && { type: 'NodePort' }),
        ports: [{ nodePort }],
        ...(hasAffinity && { sessionAffinity: 'ClientIP' }),
        ...(isLeastConnections && { annotations: { 'pointsman.dev/balance': 'least-connections' } }),
      }),
    );
    const addressType = family;
    this.#target.setEndpointSlice(
      slice(`${nameOf(place)}-1`, place.endpoints, {
        addressType,
        ports: [{ name: '', protocol: 'TCP', port: ENDPOINT_PORT }],
      }),
    );
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }
}

function nameOf({ number, version }: Place): string {
  return `s${number}v${version}`;
}

function clusterIP(family: Family, number: number): Ip {
  return (family === FAMILIES[0] ? `10.96.1.${number + 1}` : `fd00:10:96::${number + 1}`) as Ip;
}

function endpointsOf(family: Family, number: number, version: number): readonly string[] {
  return Array.from({ length: MAX_ENDPOINTS }, (_, i) =>
    family === 'IPv4'
      ? `10.244.${number + 100}.${version * 8 + i + 1}`
      : `fd00:10:244:${number + 1}:${version + 1}::${i + 1}`,
  );
}
