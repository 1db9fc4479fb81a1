import type { HistoryRow } from '../../../../inspect/index.ts';
import type { Tone } from '../../parts/service-states.ts';
import { LANES, type LaneId, wordsOf } from './lanes.ts';
import { lengthOf, type Span } from './span.ts';

/** An entry with its place on the axis. */
export interface TimedEntry {
  readonly at: number;
  readonly lane: LaneId;
  readonly entry: HistoryRow;
}

export function timed(entries: readonly HistoryRow[]): readonly TimedEntry[] {
  return entries
    .map(entry => ({ at: Date.parse(entry.time), lane: wordsOf(entry).lane, entry }))
    .sort((a, b) => a.at - b.at || a.entry.id - b.entry.id);
}

/** The entries of a span. They are sorted by time. */
export function inSpan(entries: readonly TimedEntry[], { from, until }: Span): readonly TimedEntry[] {
  return entries.slice(indexOf(entries, from), indexOf(entries, until + 1));
}

/** The first entry at this time or later. */
function indexOf(entries: readonly TimedEntry[], at: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.at ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Entries of one lane that are so near to each other that they share a mark. */
export interface Mark {
  readonly lane: LaneId;
  readonly bucket: number;
  readonly count: number;
  readonly tone: Tone;
  readonly last: TimedEntry;
}

const WORST: readonly Tone[] = ['bad', 'warn', 'accent', 'good', 'quiet'];

/** At most one mark for each lane and bucket, so that the drawing stays small whatever happened. */
export function marksOf(entries: readonly TimedEntry[], span: Span, buckets: number): readonly Mark[] {
  const marks = new Map<string, Mark>();
  for (const timedEntry of entries) {
    const bucket = bucketOf(timedEntry.at, span, buckets);
    if (bucket === undefined) continue;
    const key = `${timedEntry.lane} ${bucket}`;
    const known = marks.get(key);
    const tone = worse(known?.tone ?? 'quiet', wordsOf(timedEntry.entry).tone);
    marks.set(key, { lane: timedEntry.lane, bucket, count: (known?.count ?? 0) + 1, tone, last: timedEntry });
  }
  return [...marks.values()];
}

function worse(a: Tone, b: Tone): Tone {
  return WORST.indexOf(a) <= WORST.indexOf(b) ? a : b;
}

export function bucketOf(at: number, span: Span, buckets: number): number | undefined {
  if (at < span.from || at > span.until) return undefined;
  return Math.min(buckets - 1, Math.floor(((at - span.from) / lengthOf(span)) * buckets));
}

/** How many entries each bucket of the overview has, by lane in the order of the lanes. */
export function countsOf(entries: readonly TimedEntry[], span: Span, buckets: number): readonly (readonly number[])[] {
  const lanes = new Map(LANES.map(({ id }, i) => [id, i]));
  const counts = Array.from({ length: buckets }, () => LANES.map(() => 0));
  for (const { at, lane } of entries) {
    const bucket = bucketOf(at, span, buckets);
    const row = bucket === undefined ? undefined : counts[bucket];
    const place = lanes.get(lane);
    if (row && place !== undefined) row[place] = (row[place] ?? 0) + 1;
  }
  return counts;
}
