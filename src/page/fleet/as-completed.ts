/** Works on at most `limit` items at a time. Yields the results as they come, in batches of those that are there. */
export async function* asCompleted<Item, Result>(
  items: Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<readonly Result[], void> {
  const waiting = items[Symbol.iterator]();
  const running = new Set<Promise<void>>();
  let results: Result[] = [];
  const startNext = () => {
    const next = waiting.next();
    if (next.done) return false;
    const task: Promise<void> = work(next.value).then(result => {
      results.push(result);
      running.delete(task);
    });
    running.add(task);
    return true;
  };
  for (;;) {
    while (running.size < limit && startNext());
    // Some may have ended while the reader worked on the last batch.
    if (results.length === 0) {
      if (running.size === 0) return;
      await Promise.race(running);
    }
    const ready = results;
    results = [];
    yield ready;
  }
}
