import type { Counter as CounterType, Gauge as GaugeType, Histogram as HistogramType } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import Histogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import { inGoForm } from './sample-text.ts';

export type { CounterType as Counter, GaugeType as Gauge, HistogramType as Histogram };

/** A sample that is read when somebody asks; undefined leaves it out. */
export type Read = () => number | undefined;

/** One value of a metric with labels. */
export interface Sample<Label extends string> {
  readonly labels: Record<Label, string>;
  readonly value: number;
}

/** All values of a metric with labels. */
type ReadAll<Label extends string> = () => Promise<Iterable<Sample<Label>>>;

/** Metrics that are shown together. One with labels shows up with its first sample, one without at once. */
export class MetricSet {
  readonly registry = new Registry();

  counter<Label extends string>(name: string, labelNames: readonly Label[], help: string): CounterType<Label> {
    return new Counter({ name, labelNames: [...labelNames], help, registers: [this.registry] });
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

  /** A counter that someone else keeps. */
  readCounter(name: string, help: string, read: Read): void {
    const collect = () => {
      counter.reset();
      const value = sampleOf(read);
      if (value === undefined) counter.remove();
      else counter.inc(value);
    };
    const counter: CounterType = new Counter({ name, help, registers: [this.registry], collect });
  }

  /** The same with labels. */
  readCounters<Label extends string>(
    name: string,
    labelNames: readonly Label[],
    help: string,
    read: ReadAll<Label>,
  ): void {
    const collect = refilling(read, () => counter);
    const counter: CounterType<Label> = new Counter({
      name,
      labelNames: [...labelNames],
      help,
      registers: [this.registry],
      collect,
    });
  }

  /** The same of a gauge. */
  readGauges<Label extends string>(
    name: string,
    labelNames: readonly Label[],
    help: string,
    read: ReadAll<Label>,
  ): void {
    const collect = refilling(read, () => gauge);
    const gauge: GaugeType<Label> = new Gauge({
      name,
      labelNames: [...labelNames],
      help,
      registers: [this.registry],
      collect,
    });
  }

  readGauge(name: string, help: string, read: Read): void {
    const collect = () => {
      const value = sampleOf(read);
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    };
    const gauge: GaugeType = new Gauge({ name, help, registers: [this.registry], collect });
  }

  /** In Prometheus' text format, by name. */
  async text(): Promise<string> {
    // In the order in which they were made, for the values of some are read together with those of an earlier one.
    const names = this.registry.getMetricsAsArray().map(({ name }) => name);
    const families = await Promise.all(names.map(name => this.registry.getSingleMetricAsString(name)));
    return families
      .filter(hasSamples)
      .sort()
      .map(family => `${inGoForm(family)}\n`)
      .join('');
  }
}

/** What shows of a metric what is read, and nothing of before. */
function refilling<Label extends string>(
  read: ReadAll<Label>,
  metric: () => CounterType<Label> | GaugeType<Label>,
): () => Promise<void> {
  return async () => {
    const samples = await read();
    metric().reset();
    for (const { labels, value } of samples) metric().inc(labels, value);
  };
}

function sampleOf(read: Read): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** After the two lines about the metric there are some of its values. */
function hasSamples(family: string): boolean {
  return family.indexOf('\n', family.indexOf('\n') + 1) > 0;
}
