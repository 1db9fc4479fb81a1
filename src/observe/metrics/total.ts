/** The shown value of counters that are kept elsewhere. It never decreases. */
export interface Total {
  readonly total: number;
  /** The counters' sum when they were last read. */
  readonly last: number;
}

/** A smaller sum means that a counter is gone or was reset. Then the total stays, because the increase is unknown. */
export function advanced(before: Total | undefined, sum: number): Total {
  const { total, last } = before ?? { total: 0, last: 0 };
  return { total: total + Math.max(0, sum - last), last: sum };
}
