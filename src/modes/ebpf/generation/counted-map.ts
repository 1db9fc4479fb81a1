import type { BpfMap } from '../../../kernel/bpf/index.ts';
import type { Usage } from './capacity.ts';

/** A hash map, and how many entries this process put into it. */
export class CountedMap {
  readonly map: BpfMap;
  #used = 0;

  constructor(map: BpfMap) {
    this.map = map;
  }

  get usage(): Usage {
    return { map: this.map.spec.name, used: this.#used, capacity: this.map.spec.entries };
  }

  hasRoom(added: number): boolean {
    return this.#used + added <= this.map.spec.entries;
  }

  /** `added`: how many of the keys are new. */
  update(keys: Buffer, values: Buffer, added: number): void {
    this.map.updateBatch(keys, values);
    this.#used += added;
  }

  /** `removed`: how many entries go. Another entry may have taken the place of some of them already. */
  remove(keys: Buffer, removed: number): void {
    this.map.removeBatch(keys);
    this.#used -= removed;
  }
}
