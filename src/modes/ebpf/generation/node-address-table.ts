import type { BpfMap } from '../../../kernel/bpf/index.ts';
import type { Breaks } from '../../../lib/breaks.ts';
import type { Ip } from '../../../net/index.ts';
import { encodeNodeAddress, nodeAddressKey } from '../programs/index.ts';
import type { NodeAddressKind } from '../render.ts';
import type { Usage } from './capacity.ts';
import { mapDifference } from './map-difference.ts';

/** The addresses of the node that accept node ports, in one family. */
export class NodeAddressTable {
  readonly #map: BpfMap;
  #written: ReadonlyMap<Ip, NodeAddressKind> = new Map();

  constructor(map: BpfMap) {
    this.#map = map;
  }

  get usage(): Usage {
    return { map: this.#map.spec.name, used: this.#written.size, capacity: this.#map.spec.entries };
  }

  /** `full`: there are too many addresses. Then nothing is written. */
  set(addresses: ReadonlyMap<Ip, NodeAddressKind>): 'written' | 'full' {
    if (addresses === this.#written) return 'written';
    const changed = [...addresses].filter(([ip, kind]) => this.#written.get(ip) !== kind);
    if (this.#written.size + changed.length > this.#map.spec.entries) return 'full';
    for (const [ip, kind] of changed) this.#map.update(nodeAddressKey(ip), encodeNodeAddress(kind));
    for (const ip of this.#written.keys()) if (!addresses.has(ip)) this.#map.remove(nodeAddressKey(ip));
    this.#written = addresses;
    return 'written';
  }

  /** How the kernel's map differs from what this process wrote, in words. */
  async difference(breaks: Breaks): Promise<string | undefined> {
    const keys = Buffer.concat(Array.from(this.#written.keys(), nodeAddressKey));
    const values = Buffer.concat(Array.from(this.#written.values(), encodeNodeAddress));
    return await mapDifference(this.#map, [{ keys, values }], breaks);
  }
}
