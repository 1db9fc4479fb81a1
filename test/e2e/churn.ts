import type { KubeObject } from '../control-plane/objects.ts';
import { service, slice } from './objects.ts';

export interface Change {
  readonly verb: 'apply' | 'delete';
  readonly object: KubeObject;
}

const SERVICES = 400;
const SLICES_OF_EACH = 2;
const POLICIES = ['Cluster', 'Local'] as const;
const TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer'] as const;
const FAMILIES = [['IPv4'], ['IPv6'], ['IPv4', 'IPv6']] as const;
const PORTS = [80, 443, 8080] as const;

/** Changes of Services and EndpointSlices without end, the same ones for the same seed. */
export class Churn {
  readonly #random: () => number;
  /** Those that exist. */
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
    const type = this.#one(TYPES);
    const ipFamilies = familiesOf(index);
    const ports = PORTS.slice(0, 1 + this.#below(PORTS.length)).map(port => ({ name: `p${port}`, port }));
    return service(`churned${index}`, undefined, {
      type,
      ports,
      ipFamilies,
      ipFamilyPolicy: ipFamilies.length > 1 ? 'RequireDualStack' : 'SingleStack',
      sessionAffinity: this.#chance(0.1) ? 'ClientIP' : 'None',
      internalTrafficPolicy: this.#one(POLICIES),
      ...(type !== 'ClusterIP' && { externalTrafficPolicy: this.#one(POLICIES) }),
    });
  }

  #slice(index: number): KubeObject {
    const families = familiesOf(index);
    const number = this.#below(SLICES_OF_EACH);
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

  #one<T>(values: readonly [T, ...T[]] | readonly T[]): T {
    const value = values[this.#below(values.length)];
    if (value === undefined) throw new RangeError('nothing to choose from');
    return value;
  }
}

/** A Service keeps its families for life. */
function familiesOf(index: number): readonly ['IPv4' | 'IPv6', ...('IPv4' | 'IPv6')[]] {
  return FAMILIES[index % FAMILIES.length] ?? FAMILIES[0];
}

/** Marsaglia's xorshift with 32 bits: between 0 and 1. */
function randomNumbers(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
