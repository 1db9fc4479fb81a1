/** One sample of a Prometheus text. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** The samples whose names begin with the prefix. */
export function samplesOf(text: string, prefix: string): readonly Sample[] {
  return text.split('\n').flatMap(line => {
    if (!line.startsWith(prefix)) return [];
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) return [];
    return {
      name,
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, k, v]) => [k, v])),
      value: Number(value),
    };
  });
}

/** How many observations a histogram has up to each bound, all label values together. */
export type Histogram = ReadonlyMap<number, number>;

export function histogramOf(text: string, name: string): Histogram {
  const counts = new Map<number, number>();
  for (const { labels, value } of samplesOf(text, `${name}_bucket`)) {
    const bound = labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le);
    counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  return counts;
}

/** What was observed after `before`. */
export function histogramSince(after: Histogram, before: Histogram): Histogram {
  return new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]));
}

/**
 * The value that this part of the observations is below, interpolated in its bucket as Prometheus does. NaN without
 * observations.
 */
export function histogramQuantile(histogram: Histogram, part: number): number {
  const buckets = [...histogram].sort(([a], [b]) => a - b);
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total === 0) return Number.NaN;
  const rank = part * total;
  const at = buckets.findIndex(([, count]) => count >= rank);
  const [bound, count] = buckets[at] ?? [Number.NaN, 0];
  const [lower, below] = buckets[at - 1] ?? [0, 0];
  if (bound === Number.POSITIVE_INFINITY) return lower;
  return count === below ? bound : lower + ((bound - lower) * (rank - below)) / (count - below);
}

/** The sum of all samples with this name. */
export function totalOf(text: string, name: string): number {
  return samplesOf(text, name)
    .filter(sample => sample.name === name)
    .reduce((sum, { value }) => sum + value, 0);
}
