import type { BpfMap, Entries } from '../../../kernel/bpf/index.ts';
import type { Breaks } from '../../../lib/breaks.ts';
import type { Family } from '../../../net/index.ts';
import { FRONTEND_KEY_BYTES, TARGET_BYTES, writeFrontendKey, writeTarget } from '../programs/index.ts';
import type { SocketTarget } from '../render.ts';
import type { Usage } from './capacity.ts';
import { CountedMap } from './counted-map.ts';
import { mapDifference, parts } from './map-difference.ts';
import type { PlacedPort } from './placed-port.ts';
import { targetValue } from './target-value.ts';

/** The frontends of one family. */
export class FrontendTable {
  readonly #family: Family;
  readonly #counted: CountedMap;

  constructor(family: Family, map: BpfMap) {
    this.#family = family;
    this.#counted = new CountedMap(map);
  }

  get usage(): Usage {
    return this.#counted.usage;
  }

  hasRoom(added: number): boolean {
    return this.#counted.hasRoom(added);
  }

  /** Adds and replaces the targets of service ports. `added`: how many of them are new. The default is all. */
  set(ports: readonly PlacedPort[], added?: number): void {
    if (ports.length === 0) return;
    const { keys, values } = this.#encode(ports);
    this.#counted.update(keys, values, added ?? values.length / TARGET_BYTES);
  }

  /** Removes targets that service ports lost. `isGone`: no other service port got the target. */
  remove(targets: readonly SocketTarget[], isGone: (target: SocketTarget) => boolean): void {
    this.#counted.remove(this.#keys(targets.filter(isGone)), targets.length);
  }

  /** How the kernel's map differs from the targets of these service ports, in words. */
  async difference(ports: Iterable<PlacedPort>, breaks: Breaks): Promise<string | undefined> {
    return await mapDifference(this.#counted.map, this.#wanted(ports), breaks);
  }

  *#wanted(ports: Iterable<PlacedPort>): Generator<Entries> {
    for (const part of parts(ports)) yield this.#encode(part);
  }

  #encode(ports: readonly PlacedPort[]): Entries {
    const size = FRONTEND_KEY_BYTES[this.#family];
    let count = 0;
    for (const { port } of ports) count += port.targets.length;
    const [keys, values] = [Buffer.alloc(count * size), Buffer.alloc(count * TARGET_BYTES)];
    let i = 0;
    for (const placed of ports) {
      for (const target of placed.port.targets) {
        writeFrontendKey(this.#family, target, keys, i * size);
        writeTarget(targetValue(placed, target), values, i * TARGET_BYTES);
        i++;
      }
    }
    return { keys, values };
  }

  #keys(targets: readonly SocketTarget[]): Buffer {
    const size = FRONTEND_KEY_BYTES[this.#family];
    const keys = Buffer.alloc(targets.length * size);
    for (const [i, target] of targets.entries()) writeFrontendKey(this.#family, target, keys, i * size);
    return keys;
  }
}
