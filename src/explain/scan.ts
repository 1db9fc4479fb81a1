import { Breaks } from '../lib/breaks.ts';

/** How many objects are looked at between two breaks. A sync must not wait for more than a few milliseconds. */
const ITEMS_WITHOUT_BREAK = 2000;

/** Visits all items, with breaks, until `visit` returns true. */
export async function scan<T>(items: Iterable<T>, visit: (item: T) => boolean | undefined): Promise<void> {
  const breaks = new Breaks();
  let count = 0;
  for (const item of items) {
    if (visit(item) === true) return;
    if (++count % ITEMS_WITHOUT_BREAK === 0) await breaks.take();
  }
}
