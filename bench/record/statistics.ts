import { quantile } from '../support/report.ts';
import type { Figure } from './result.ts';

/** The name, unit and kind of a figure, and where it was measured. */
export type FigureHead = Omit<Figure, 'value' | 'samples' | 'spread'>;

/** A figure of one value. */
export function single(head: FigureHead, value: number): Figure {
  return { ...head, value: shortened(value) };
}

/** A figure whose value is the median of repetitions, with the least and the greatest of them. */
export function repeated(head: FigureHead, values: readonly number[]): Figure {
  return {
    ...head,
    value: shortened(quantile(values, 0.5)),
    samples: values.length,
    spread: [shortened(Math.min(...values)), shortened(Math.max(...values))],
  };
}

/** Two figures, `NAME p50` and `NAME p99`. */
export function quantiles(head: FigureHead, values: readonly number[]): readonly Figure[] {
  return [0.5, 0.99].map(part => ({
    ...head,
    name: `${head.name} p${part * 100}`,
    value: shortened(quantile(values, part)),
    samples: values.length,
  }));
}

/** Three significant digits, and all digits of an integer part. */
export function shortened(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** At most `most` points, evenly spread, with the last one. */
export function thinned<T>(points: readonly T[], most: number): readonly T[] {
  if (points.length <= most) return points;
  const step = (points.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, i) => points[Math.round(i * step)] as T);
}
