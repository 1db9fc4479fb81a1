import { sameList } from '../../lib/same-list.ts';
import type { Backend } from './backend.ts';

/** The slots of one policy, and whose turn it is. */
export class Ring {
  /** An endpoint may have several slots. */
  slots: readonly Backend[] = [];
  /** Each endpoint once. */
  members: readonly Backend[] = [];
  /** How many slots each endpoint has. Undefined in the usual case: all have one. */
  counts: ReadonlyMap<Backend, number> | undefined;
  /** The slot or the member that has the next turn. */
  next = 0;

  /**
   * If the slots changed, begins a new round. Nodes must not all begin with the same endpoint. So single slots get a
   * random order. Repeated slots keep their order, because it spreads those of one endpoint; the round begins anywhere.
   */
  fill(slots: readonly Backend[], random: () => number): void {
    const counts = countSlots(slots);
    if (counts.size === slots.length) this.#fillSingle(slots, random);
    else this.#fillRepeated(slots, counts, random);
  }

  #fillSingle(slots: readonly Backend[], random: () => number): void {
    const known = new Set(this.slots);
    if (!this.counts && slots.length === known.size && slots.every(slot => known.has(slot))) return;
    this.slots = shuffled(slots, random);
    this.members = this.slots;
    this.counts = undefined;
    this.next = 0;
  }

  #fillRepeated(slots: readonly Backend[], counts: ReadonlyMap<Backend, number>, random: () => number): void {
    if (sameList(this.slots, slots)) return;
    this.slots = slots;
    this.members = [...counts.keys()];
    this.counts = counts;
    this.next = Math.floor(random() * slots.length);
  }
}

function countSlots(slots: readonly Backend[]): ReadonlyMap<Backend, number> {
  const counts = new Map<Backend, number>();
  for (const slot of slots) counts.set(slot, (counts.get(slot) ?? 0) + 1);
  return counts;
}

function shuffled<T>(list: readonly T[], random: () => number): readonly T[] {
  const keyed = list.map(value => ({ value, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ value }) => value);
}
