import type { BpfMap, Entries } from '../../../kernel/bpf/index.ts';
import type { Breaks } from '../../../lib/breaks.ts';
import type { Family } from '../../../net/index.ts';
import { FRONTEND_KEY_BYTES, TARGET_BYTES, writeFrontendKey, writeTarget } from '../programs/index.ts';
import type { SocketTarget } from '../render.ts';
import type { Usage } from './capacity.ts';
import { CountedMap } from './counted-map.ts';
import { CHUNK_SIZE, type FrontendChunk } from './frontend-chunk.ts';
import { mapDifference, parts } from './map-difference.ts';
import type { PlacedPort } from './placed-port.ts';
import { targetValue } from './target-value.ts';

/** The frontends of one family. */
export class FrontendTable {
  readonly #family: Family;
  readonly #counted: CountedMap;
  readonly #chunks: FrontendChunk[] = [];

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

  /** The chunk of a service port that is new. */
  chunkFor(id: string): FrontendChunk {
    const last = this.#chunks.at(-1);
    if (!last || last.ids.length >= CHUNK_SIZE) return this.addChunk([id]);
    last.ids.push(id);
    return last;
  }

  /** The chunk of service ports that are new. */
  addChunk(ids: string[]): FrontendChunk {
    const chunk = { ids, entries: undefined };
    this.#chunks.push(chunk);
    return chunk;
  }

  /** Adds the targets of all service ports of a chunk. */
  add(ports: readonly PlacedPort[], chunk: FrontendChunk): void {
    const entries = this.#encode(ports);
    this.#update(entries);
    chunk.entries = entries;
  }

  /** Adds and replaces the targets of service ports. `added`: how many of them are new. */
  set(ports: readonly PlacedPort[], added: number): void {
    for (const { chunk } of ports) chunk.entries = undefined;
    this.#update(this.#encode(ports), added);
  }

  /** Adds all that another table has. `portsOf` returns the service ports that a chunk has now. */
  async copy(former: FrontendTable, portsOf: (chunk: FrontendChunk) => readonly PlacedPort[], breaks: Breaks) {
    for (const chunk of former.#chunks) {
      if (breaks.isDue) await breaks.take();
      if (!chunk.entries) {
        const ports = portsOf(chunk);
        chunk.ids = ports.map(({ port }) => port.id);
        chunk.entries = this.#encode(ports);
      }
      if (chunk.ids.length === 0) continue;
      this.#update(chunk.entries);
      this.#chunks.push(chunk);
    }
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

  #update({ keys, values }: Entries, added = values.length / TARGET_BYTES): void {
    this.#counted.update(keys, values, added);
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
