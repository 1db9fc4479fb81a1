/** How many connections a Service had so far, at a time. */
export interface Sample {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly connections: number;
}

/** Connections a second, for a plot. */
export interface Rates {
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly perSecond: readonly (number | null)[];
}

const KEPT_MS = 4 * 60_000;
const STEP_MS = 1000;

/** Adds a sample and forgets those that are older than four minutes. A counter that went back began anew. */
export function addSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last && sample.at <= last.at) return samples;
  if (last && sample.connections < last.connections) return [sample];
  return [...samples.filter(({ at }) => at >= sample.at - KEPT_MS), sample];
}

/**
 * The rates of the last minutes, one a second. The proxy sends only counters that changed: a second without a sample had
 * no connection. A sample after a pause counts for its own second.
 */
export function ratesOf(samples: readonly Sample[], now: number): Rates {
  const [first] = samples;
  const end = Math.floor(now / STEP_MS);
  const start = end - KEPT_MS / STEP_MS;
  const times = Array.from({ length: end - start }, (_, index) => start + index + 1);
  if (!first) return { times, perSecond: times.map(() => null) };
  const counts = new Map<number, number>();
  samples.slice(1).forEach((sample, index) => {
    const before = samples[index]?.connections ?? sample.connections;
    const second = Math.floor(sample.at / STEP_MS);
    counts.set(second, (counts.get(second) ?? 0) + sample.connections - before);
  });
  const known = Math.floor(first.at / STEP_MS);
  return { times, perSecond: times.map(second => (second < known ? null : (counts.get(second) ?? 0))) };
}

/** The mean of the last ten seconds. Undefined without two samples. */
export function currentRate(samples: readonly Sample[], now: number): number | undefined {
  if (samples.length === 0) return undefined;
  const { perSecond } = ratesOf(samples, now);
  const last = perSecond.slice(-10).filter(rate => rate !== null);
  return last.length === 0 ? undefined : last.reduce((sum, rate) => sum + rate, 0) / last.length;
}
