/** Work without a break must not take longer, or it holds up a sync. */
const MAX_WORK_MS = 2;

/** Work that takes a break. Only one goes on in each turn of the event loop, however many run at the same time. */
const waiting: (() => void)[] = [];

function goOnLater(): void {
  setImmediate(() => {
    waiting.shift()?.();
    if (waiting.length > 0) goOnLater();
  });
}

/** Lets the event loop run from time to time during long work. */
export class Breaks {
  #since = performance.now();

  /** The work has run long enough. */
  get isDue(): boolean {
    return performance.now() - this.#since >= MAX_WORK_MS;
  }

  async take(): Promise<void> {
    await new Promise<void>(resolve => {
      if (waiting.push(resolve) === 1) goOnLater();
    });
    this.#since = performance.now();
  }
}

type Compare<T> = (a: T, b: T) => number;

/** The native sort takes well under a millisecond for so many texts. */
const RUN_LENGTH = 1024;
const CHECK_EVERY = 256;

/** Sorts a copy of a long list with breaks. Equal items keep their order. */
export async function sortWithBreaks<T>(items: readonly T[], compare: Compare<T>, breaks: Breaks): Promise<T[]> {
  let runs: T[][] = [];
  for (let start = 0; start < items.length; start += RUN_LENGTH) {
    runs.push(items.slice(start, start + RUN_LENGTH).sort(compare));
    if (breaks.isDue) await breaks.take();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(await merge(runs[i] ?? [], runs[i + 1] ?? [], compare, breaks));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(left: T[], right: T[], compare: Compare<T>, breaks: Breaks): Promise<T[]> {
  if (right.length === 0) return left;
  const merged: T[] = [];
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const takesLeft = r >= right.length || (l < left.length && compare(left[l] as T, right[r] as T) <= 0);
    merged.push((takesLeft ? left[l++] : right[r++]) as T);
    if (merged.length % CHECK_EVERY === 0 && breaks.isDue) await breaks.take();
  }
  return merged;
}
