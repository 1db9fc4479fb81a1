import type { Impairment } from '../faults/fault.ts';

interface Interval {
  readonly kind: Impairment;
  readonly from: number;
  until: number;
}

/** When the proxy could not do its work because of a fault. */
export class Impairments {
  readonly #intervals: Interval[] = [];

  begin(kinds: readonly Impairment[], at: number): void {
    for (const kind of kinds) this.#intervals.push({ kind, from: at, until: Number.POSITIVE_INFINITY });
  }

  /** The proxy has recovered from everything. */
  endAll(at: number): void {
    for (const interval of this.#intervals) interval.until = Math.min(interval.until, at);
  }

  overlaps(kind: Impairment, begin: number, end: number): boolean {
    return this.#during(begin, end).some(interval => interval.kind === kind);
  }

  /** The earliest time whose state the proxy may still have had, for a connection between the two times. */
  earliestKnown(begin: number, end: number): number {
    const earliest = Math.min(begin, ...this.#during(begin, end).map(({ from }) => from));
    return earliest < begin ? this.earliestKnown(earliest, end) : begin;
  }

  #during(begin: number, end: number): readonly Interval[] {
    return this.#intervals.filter(({ from, until }) => from <= end && until >= begin);
  }
}
