import type { KubeObject } from '../control-plane/objects.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { service, slice } from './objects.ts';

export interface Change {
  readonly verb: 'apply' | 'delete';
  readonly object: KubeObject;
}

const SERVICES = 400;
const SLICES_PER_SERVICE = 2;
const POLICIES = ['Cluster', 'Local'] as const;
const TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer'] as const;
const FAMILIES = [['IPv4'], ['IPv6'], ['IPv4', 'IPv6']] as const;
const PORTS = [80, 443, 8080] as const;

/** Endless random changes of Services and EndpointSlices. The same seed gives the same changes. */
export class Churn {
  readonly #random: () => number;
  /** The objects that exist now. */
  readonly #objects = new Map<string, KubeObject>();

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
  }

  get size(): number {
    return this.#objects.size;
  }

  next(): Change {
    const index = this.#below(SERVICES);
    const object = this.#chance(0.35) ? this.#service(index) : this.#slice(index);
    const key = `${object.kind}/${object.metadata.name}`;
    if (this.#objects.has(key) && this.#chance(0.25)) {
      this.#objects.delete(key);
      return { verb: 'delete', object };
    }
    this.#objects.set(key, object);
    return { verb: 'apply', object };
  }

  #service(index: number): KubeObject {
    const type = this.#pick(TYPES);
    const ipFamilies = familiesOf(index);
    const ports = PORTS.slice(0, 1 + this.#below(PORTS.length)).map(port => ({ name: `p${port}`, port }));
    return service(`churned${index}`, undefined, {
      type,
      ports,
      ipFamilies,
      ipFamilyPolicy: ipFamilies.length > 1 ? 'RequireDualStack' : 'SingleStack',
      sessionAffinity: this.#chance(0.1) ? 'ClientIP' : 'None',
      internalTrafficPolicy: this.#pick(POLICIES),
      ...(type !== 'ClusterIP' && { externalTrafficPolicy: this.#pick(POLICIES) }),
    });
  }

  #slice(index: number): KubeObject {
    const families = familiesOf(index);
    const number = this.#below(SLICES_PER_SERVICE);
    const family = families[number % families.length] ?? families[0];
    const endpoints = Array.from({ length: this.#below(6) }, () => this.#endpoint(family));
    const ports = PORTS.map(port => ({ name: `p${port}`, port: port + 8000, protocol: 'TCP' }));
    return { ...slice(`churned${index}-${number}`, endpoints), addressType: family, ports };
  }

  #endpoint(family: 'IPv4' | 'IPv6') {
    const pod = this.#below(2000) + 256;
    const ip = family === 'IPv4' ? `10.244.${pod >> 8}.${pod & 255}` : `fd00:10:244:1::${pod.toString(16)}`;
    const ready = this.#chance(0.8);
    return { ip, conditions: { ready, serving: ready || this.#chance(0.5), terminating: !ready } };
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #pick<T>(values: readonly [T, ...T[]] | readonly T[]): T {
    const value = values[this.#below(values.length)];
    if (value === undefined) throw new RangeError('nothing to choose from');
    return value;
  }
}

/** The families of a Service never change. */
function familiesOf(index: number): readonly ['IPv4' | 'IPv6', ...('IPv4' | 'IPv6')[]] {
  return FAMILIES[index % FAMILIES.length] ?? FAMILIES[0];
}
