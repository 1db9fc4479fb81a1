import type { RowsEvent, ServiceRow } from '../../../inspect/index.ts';
import { keyOf } from './service-index.ts';

/** What a listing changes: rows that are new, and keys of Services that are gone. */
export type ListedChange = Pick<RowsEvent, 'rows' | 'removed'>;

/** Joins a list with what the stream says while the list comes. The stream is newer, so it wins. */
export class Listing {
  readonly #listed = new Set<string>();
  readonly #live = new Set<string>();

  /** Notes an event of the stream. */
  noteLive({ rows, removed }: ListedChange): void {
    for (const row of rows) this.#live.add(keyOf(row));
    for (const key of removed) this.#live.add(key);
  }

  /** The rows of the list that still count. */
  take(rows: readonly ServiceRow[]): readonly ServiceRow[] {
    return rows.filter(row => {
      const key = keyOf(row);
      this.#listed.add(key);
      return !this.#live.has(key);
    });
  }

  /** After the whole list: Services that the page knows and that are gone. */
  gone(known: Iterable<string>): readonly string[] {
    return [...known].filter(key => !this.#listed.has(key) && !this.#live.has(key));
  }
}
