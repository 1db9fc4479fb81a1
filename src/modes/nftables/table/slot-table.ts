import { type DataValue, dataBytes, type Element, type NftMap } from '../../../kernel/nftables/index.ts';
import type { Endpoint } from '../../../model/index.ts';

/** What a map gives for an endpoint. */
export interface SlotValue {
  /** The same for the same data. */
  id(endpoint: Endpoint): string | number;
  data(endpoint: Endpoint): readonly DataValue[];
}

/** A map of one service port, from slots to endpoints. It may have thousands of elements, so few are ever made. */
export class SlotTable {
  readonly map: NftMap;
  readonly slots: readonly Endpoint[];
  readonly #value: SlotValue;
  /** A hash has hundreds of slots for each endpoint. */
  readonly #data = new Map<Endpoint, Buffer>();

  constructor(map: NftMap, slots: readonly Endpoint[], value: SlotValue) {
    this.map = map;
    this.slots = slots;
    this.#value = value;
  }

  /** All elements, or the first ones. */
  *elements(limit = this.slots.length): Generator<Element> {
    for (const [slot, endpoint] of this.slots.slice(0, limit).entries()) yield this.#element(slot, endpoint);
  }

  /** The elements that the other table does not have. */
  elementsBeside(other: SlotTable | undefined): Element[] {
    if (!other) return [...this.elements()];
    const elements: Element[] = [];
    this.slots.forEach((endpoint, slot) => {
      const before = other.slots[slot];
      const isSame = before !== undefined && other.#value.id(before) === this.#value.id(endpoint);
      if (!isSame) elements.push(this.#element(slot, endpoint));
    });
    return elements;
  }

  /** Those of `elementsBeside` whose slots the other table has too, and those whose slots it lacks. */
  elementsToRemove(other: SlotTable | undefined): { readonly replaced: Element[]; readonly dropped: Element[] } {
    const kept = other?.slots.length ?? 0;
    const elements = this.elementsBeside(other);
    const dropped = Math.max(0, this.slots.length - kept);
    return {
      replaced: elements.slice(0, elements.length - dropped),
      dropped: elements.slice(elements.length - dropped),
    };
  }

  #element(slot: number, endpoint: Endpoint): Element {
    const data = this.#data.get(endpoint) ?? dataBytes(this.map.data, this.#value.data(endpoint));
    this.#data.set(endpoint, data);
    return { kind: 'element', key: dataBytes(this.map.type, [slot]), data };
  }
}
