import type { BpfMap, Entries } from '../../../kernel/bpf/index.ts';
import type { Breaks } from '../../../lib/breaks.ts';
import type { Family } from '../../../net/index.ts';
import { FRONTEND_KEY_BYTES, TARGET_BYTES, writeFrontendKey, writeTarget } from '../programs/index.ts';
import type { SocketTarget } from '../render.ts';
import type { Usage } from './capacity.ts';
import { mapDifference, parts } from './map-difference.ts';
import type { PlacedPort } from './placed-port.ts';
import { targetValue } from './target-value.ts';

/** The frontends of one family. */
export class FrontendTable {
  readonly #family: Family;
  readonly #map: BpfMap;
  #used = 0;

  constructor(family: Family, map: BpfMap) {
    this.#family = family;
    this.#map = map;
  }

  get usage(): Usage {
    return { map: this.#map.spec.name, used: this.#used, capacity: this.#map.spec.entries };
  }

  hasRoom(added: number): boolean {
    return this.#used + added <= this.#map.spec.entries;
  }

  /** Adds and replaces the targets of service ports. `added`: how many of them are new. */
  set(ports: readonly PlacedPort[], added: number): void {
    const { keys, values } = this.#encode(ports);
    this.#map.updateBatch(keys, values);
    this.#used += added;
  }

  /** Removes targets that service ports lost. `isGone`: no other service port got the target. */
  remove(targets: readonly SocketTarget[], isGone: (target: SocketTarget) => boolean): void {
    this.#map.removeBatch(this.#keys(targets.filter(isGone)));
    this.#used -= targets.length;
  }

  /** How the kernel's map differs from the targets of these service ports, in words. */
  async difference(ports: Iterable<PlacedPort>, breaks: Breaks): Promise<string | undefined> {
    return await mapDifference(this.#map, this.#wanted(ports), breaks);
  }

  *#wanted(ports: Iterable<PlacedPort>): Generator<Entries> {
    for (const part of parts(ports)) yield this.#encode(part);
  }

  #encode(ports: readonly PlacedPort[]): Entries {
    const size = FRONTEND_KEY_BYTES[this.#family];
    const count = ports.reduce((sum, { port }) => sum + port.targets.length, 0);
    const [keys, values] = [Buffer.alloc(count * size), Buffer.alloc(count * TARGET_BYTES)];
    let i = 0;
    for (const placed of ports) {
      for (const target of placed.port.targets) {
        writeFrontendKey({ family: this.#family, ip: target.ip, port: target.port }, keys, i * size);
        writeTarget(targetValue(placed, target), values, i * TARGET_BYTES);
        i++;
      }
    }
    return { keys, values };
  }

  #keys(targets: readonly SocketTarget[]): Buffer {
    const size = FRONTEND_KEY_BYTES[this.#family];
    const keys = Buffer.alloc(targets.length * size);
    for (const [i, { ip, port }] of targets.entries())
      writeFrontendKey({ family: this.#family, ip, port }, keys, i * size);
    return keys;
  }
}
