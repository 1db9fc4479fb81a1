import { Breaks } from '../lib/breaks.ts';

/** Reading the clock for every item would cost more than most visits. */
const CHECK_EVERY = 64;

/** Visits all items, with breaks, until `visit` returns true. */
export async function scan<T>(items: Iterable<T>, visit: (item: T) => boolean | undefined): Promise<void> {
  const breaks = new Breaks();
  let count = 0;
  for (const item of items) {
    if (visit(item) === true) return;
    if (++count % CHECK_EVERY === 0 && breaks.isDue) await breaks.take();
  }
}
