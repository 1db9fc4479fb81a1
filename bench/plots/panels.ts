import type { Figure, Series } from '../record/result.ts';
import {
  dot,
  HEIGHT,
  horizontal,
  line,
  linearScale,
  logScale,
  MARGIN,
  type Mark,
  numberText,
  styleOf,
  text,
  vertical,
  WIDTH,
} from './svg.ts';

const BOTTOM = HEIGHT - MARGIN.bottom;
const RIGHT = WIDTH - MARGIN.right;

/** One figure of all subjects at all sizes. The sizes have equal distances, and values are on a logarithmic axis. */
export function sizePanel(title: string, figures: readonly Figure[], subjects: readonly string[]): string {
  const sizes = [...new Set(figures.map(({ size }) => size))];
  const step = (RIGHT - MARGIN.left) / Math.max(1, sizes.length);
  const xOf = (size: string) => Math.round(MARGIN.left + (sizes.indexOf(size) + 0.5) * step);
  const y = logScale(
    figures.map(({ value }) => value),
    BOTTOM,
    MARGIN.top,
  );
  return [
    text(MARGIN.left, 20, `${title}, ${figures[0]?.unit ?? ''}`, 'title'),
    ...y.ticks.flatMap(tick => horizontal(y.at(tick), numberText(tick))),
    ...sizes.flatMap(size => vertical(xOf(size), size.replace('x', '×'))),
    ...subjects.flatMap((subject, i) => {
      const own = figures.filter(figure => figure.subject === subject);
      return marked(
        own.map(({ size, value }) => ({ x: xOf(size), y: y.at(value) })),
        styleOf(i),
      );
    }),
  ].join('\n');
}

function marked(marks: readonly Mark[], style: string): readonly string[] {
  return [line(marks, style), ...marks.map(mark => dot(mark, style))];
}

/** Values over time. Both axes begin at 0. */
export function timePanel(title: string, series: readonly Series[], subjects: readonly string[]): string {
  const points = series.flatMap(each => each.points);
  const x = linearScale(
    points.map(([seconds]) => seconds),
    MARGIN.left,
    RIGHT,
  );
  const y = linearScale(
    points.map(([, value]) => value),
    BOTTOM,
    MARGIN.top,
  );
  return [
    text(MARGIN.left, 20, `${title}, ${series[0]?.unit ?? ''}`, 'title'),
    ...y.ticks.flatMap(tick => horizontal(y.at(tick), numberText(tick))),
    ...x.ticks.flatMap(tick => vertical(x.at(tick), numberText(tick))),
    text((MARGIN.left + RIGHT) / 2, HEIGHT - 8, 'seconds', undefined, 'middle'),
    ...subjects.flatMap((subject, i) =>
      series
        .filter(each => each.subject === subject)
        .map(each =>
          line(
            each.points.map(([seconds, value]) => ({ x: x.at(seconds), y: y.at(value) })),
            styleOf(i),
          ),
        ),
    ),
  ].join('\n');
}
