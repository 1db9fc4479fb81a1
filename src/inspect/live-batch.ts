import { type SharedEvents, sharedEvents, textBytes } from './live-parts.ts';

/** A part of a stream is made in one go, so it must be short. */
const ITEMS_PER_EVENT = 200;

/** Rows or entries as JSON, by what identifies them. A Service that is gone has no text. */
export type Texts<Key> = ReadonlyMap<Key, string | undefined>;

/** What changed since the last batch, for all readers. */
export class Batch<Key> {
  readonly texts: Texts<Key>;
  readonly #make: (texts: Texts<Key>) => SharedEvents;
  #events: SharedEvents | undefined;

  constructor(texts: Texts<Key>, make: (texts: Texts<Key>) => SharedEvents) {
    this.texts = texts;
    this.#make = make;
  }

  get events(): SharedEvents {
    this.#events ??= this.#make(this.texts);
    return this.#events;
  }

  /** For a reader that has not taken this batch yet. The later texts win. */
  with(later: Batch<Key>): Batch<Key> {
    return new Batch(new Map([...this.texts, ...later.texts]), this.#make);
  }
}

/** By `ns/name`. */
export function rowsBatch(texts: Texts<string>): Batch<string> {
  return new Batch(texts, rows =>
    sharedEvents([...rows], ITEMS_PER_EVENT, items => {
      const present = items.flatMap(([, text]) => text ?? []);
      const removed = items.flatMap(([key, text]) => (text === undefined ? [key] : []));
      return textBytes('rows', `{"kind":"rows","rows":[${present.join()}],"removed":${JSON.stringify(removed)}}`);
    }),
  );
}

/** By the id of the entry. */
export function historyBatch(texts: Texts<number>): Batch<number> {
  return new Batch(texts, entries =>
    sharedEvents([...entries.values()], ITEMS_PER_EVENT, items =>
      textBytes('history', `{"kind":"history","entries":[${items.join()}]}`),
    ),
  );
}
