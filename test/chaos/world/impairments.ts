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

  /**
   * When the impairments began that lasted until the two times, without a pause between them. Undefined if there was
   * none. The proxy may still have the state of that moment.
   */
  earliestKnown(begin: number, end: number): number | undefined {
    const during = this.#during(begin, end);
    if (during.length === 0) return undefined;
    const earliest = Math.min(...during.map(({ from }) => from));
    return earliest < begin ? (this.earliestKnown(earliest, begin) ?? earliest) : earliest;
  }

  #during(begin: number, end: number): readonly Interval[] {
    return this.#intervals.filter(({ from, until }) => from <= end && until >= begin);
  }
}
