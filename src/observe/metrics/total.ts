/** What is shown of counters that others keep. It never goes back. */
export interface Total {
  readonly total: number;
  /** The counters' sum when they were last read. */
  readonly last: number;
}

/** A sum that is smaller than before lacks a counter, or one that began anew; what came since cannot be told. */
export function advanced(before: Total | undefined, sum: number): Total {
  const { total, last } = before ?? { total: 0, last: 0 };
  return { total: total + Math.max(0, sum - last), last: sum };
}
