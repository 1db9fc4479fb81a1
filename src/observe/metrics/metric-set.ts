import type { Counter as CounterType, Gauge as GaugeType, Histogram as HistogramType } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import { shorten } from '../../lib/shorten.ts';
import { toGoFormat } from './sample-text.ts';

export type { CounterType as Counter, GaugeType as Gauge, HistogramType as Histogram };

/** Reads a sample at each scrape. Undefined leaves the metric out. */
export type Read = () => number | undefined;

/** One value of a metric with labels. */
export interface Sample<Label extends string> {
  readonly labels: Record<Label, string>;
  readonly value: number;
}

/** All values of a metric with labels. */
type ReadAll<Label extends string> = () => Promise<Iterable<Sample<Label>>>;

/** The values of labels that are known in advance. */
export type KnownValues<Label extends string> = { readonly [name in Label]?: readonly string[] };

/** The label of the IP family. */
const FAMILY = 'ip_family';

const MAX_LABEL_LENGTH = 256;

/**
 * Metrics that are shown together. A counter appears at once with 0, if the values of its labels are known in advance,
 * because `increase` does not count the first value that Prometheus sees. Any other metric with labels appears with its
 * first sample.
 */
export class MetricSet {
  readonly registry = new Registry();
  /** Counters by family, which begin with 0 as soon as the families are known. */
  readonly #familyCounters: ((families: readonly string[]) => void)[] = [];
  #families: readonly string[] = [];

  /** Sets the values of the label `ip_family`. */
  setFamilies(families: readonly string[]): void {
    this.#families = families;
    for (const begin of this.#familyCounters) begin(families);
  }

  /** `values`: the known values of all labels except `ip_family`. */
  counter<Label extends string>(
    name: string,
    labelNames: readonly Label[],
    help: string,
    values: KnownValues<Label> = {},
  ): CounterType<Label> {
    const counter = new Counter({ name, labelNames: [...labelNames], help, registers: [this.registry] });
    const begin = (families: readonly string[]) => {
      for (const labels of combinations<Label>(labelNames, { ...values, [FAMILY]: families })) counter.inc(labels, 0);
    };
    if (labelNames.some(label => label === FAMILY)) this.#familyCounters.push(begin);
    begin(this.#families);
    return counter;
  }

  gauge<Label extends string>(name: string, labelNames: readonly Label[], help: string): GaugeType<Label> {
    return new Gauge({ name, labelNames: [...labelNames], help, registers: [this.registry] });
  }

  histogram<Label extends string>(
    name: string,
    labelNames: readonly Label[],
    buckets: readonly number[],
    help: string,
  ): HistogramType<Label> {
    return new Histogram({
      name,
      labelNames: [...labelNames],
      buckets: [...buckets],
      help,
      registers: [this.registry],
    });
  }

  /** A counter whose value is kept elsewhere and read at each scrape. */
  readCounter(name: string, help: string, read: Read): void {
    const collect = () => {
      counter.reset();
      const value = tryRead(read);
      if (value === undefined) counter.remove();
      else counter.inc(value);
    };
    const counter: CounterType = new Counter({ name, help, registers: [this.registry], collect });
  }

  /** A counter with labels whose values are kept elsewhere and read at each scrape. */
  readCounters<Label extends string>(
    name: string,
    labelNames: readonly Label[],
    help: string,
    read: ReadAll<Label>,
  ): void {
    const collect = valueCollector(read, () => counter);
    const counter: CounterType<Label> = new Counter({
      name,
      labelNames: [...labelNames],
      help,
      registers: [this.registry],
      collect,
    });
  }

  /** A gauge with labels whose values are kept elsewhere and read at each scrape. */
  readGauges<Label extends string>(
    name: string,
    labelNames: readonly Label[],
    help: string,
    read: ReadAll<Label>,
  ): void {
    const collect = valueCollector(read, () => gauge);
    const gauge: GaugeType<Label> = new Gauge({
      name,
      labelNames: [...labelNames],
      help,
      registers: [this.registry],
      collect,
    });
  }

  /** A gauge whose value is kept elsewhere and read at each scrape. */
  readGauge(name: string, help: string, read: Read): void {
    const collect = () => {
      const value = tryRead(read);
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    };
    const gauge: GaugeType = new Gauge({ name, help, registers: [this.registry], collect });
  }

  /** All metrics in Prometheus' text format, sorted by name. */
  async text(): Promise<string> {
    // In the order of their creation, because some are read together with an earlier metric.
    const names = this.registry.getMetricsAsArray().map(({ name }) => name);
    const families = await Promise.all(names.map(name => this.registry.getSingleMetricAsString(name)));
    return families
      .filter(hasSamples)
      .sort()
      .map(family => `${toGoFormat(family)}\n`)
      .join('');
  }
}

/** All combinations of the values of the labels. None if a label has no known values. */
function combinations<Label extends string>(
  labelNames: readonly Label[],
  values: KnownValues<Label>,
): readonly Partial<Record<Label, string>>[] {
  return labelNames.reduce<readonly Partial<Record<Label, string>>[]>(
    (all, name) => all.flatMap(labels => (values[name] ?? []).map(value => ({ ...labels, [name]: value }))),
    [{}],
  );
}

/** Returns a function that replaces all values of a metric by those that it reads. */
function valueCollector<Label extends string>(
  read: ReadAll<Label>,
  metric: () => CounterType<Label> | GaugeType<Label>,
): () => Promise<void> {
  return async () => {
    const samples = await read();
    metric().reset();
    // Two values whose labels become the same are added: Prometheus refuses a series that is there twice.
    for (const { labels, value } of samples) metric().inc(boundedLabels(labels), value);
  };
}

/** Names of objects become labels. A valid name has at most 253 characters. */
function boundedLabels<Label extends string>(labels: Record<Label, string>): Record<Label, string> {
  const values: string[] = Object.values(labels);
  if (values.every(value => value.length <= MAX_LABEL_LENGTH)) return labels;
  const bounded: Record<Label, string> = { ...labels };
  for (const name in bounded) bounded[name] = shorten(bounded[name], MAX_LABEL_LENGTH);
  return bounded;
}

function tryRead(read: Read): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** True if there are lines after HELP and TYPE. */
function hasSamples(family: string): boolean {
  return family.indexOf('\n', family.indexOf('\n') + 1) > 0;
}
