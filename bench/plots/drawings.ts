import type { Result } from '../record/result.ts';
import { sizePanel, timePanel } from './panels.ts';
import { drawing } from './svg.ts';

/** What a panel shows: a figure at all sizes, or values over time at the last size that has them. */
type PanelChoice =
  | { readonly title: string; readonly part: string; readonly name: string }
  | { readonly title: string; readonly seriesOf: string };

interface DrawingChoice {
  readonly file: string;
  readonly bench: string;
  /** What the picture shows, for people who cannot see it. */
  readonly caption: string;
  readonly panels: readonly PanelChoice[];
}

const CHOICES: readonly DrawingChoice[] = [
  {
    file: 'benchmark-start.svg',
    bench: 'cluster',
    caption: 'Cold start and memory against the size of the cluster',
    panels: [
      { title: 'cold start', part: 'cold start', name: 'all connectable' },
      { title: 'memory after the start', part: 'cold start', name: 'resident' },
    ],
  },
  {
    file: 'benchmark-change.svg',
    bench: 'cluster',
    caption: 'Time and processor time of one change against the size of the cluster',
    panels: [
      { title: 'one change until connectable', part: 'one change', name: 'from the request p50' },
      { title: 'processor time of one change', part: 'one change', name: 'processor' },
    ],
  },
  {
    file: 'benchmark-churn.svg',
    bench: 'cluster',
    caption: 'Latency and memory while slices change all the time',
    panels: [
      { title: 'one change during churn, p99', part: 'churn', name: 'from the request p99' },
      { title: 'memory during churn', seriesOf: 'churn' },
    ],
  },
  {
    file: 'benchmark-connections.svg',
    bench: 'datapath',
    caption: 'First packets and connections against the number of Services',
    panels: [
      { title: 'first packet, p50', part: 'first packet', name: 'time p50' },
      { title: 'connections', part: 'connection', name: 'rate' },
    ],
  },
  {
    file: 'benchmark-requests.svg',
    bench: 'datapath',
    caption: 'Requests and bulk transfer against the number of Services',
    panels: [
      { title: 'request, p50', part: 'request', name: 'time p50' },
      { title: 'bulk transfer', part: 'bulk', name: 'rate' },
    ],
  },
];

export interface Drawing {
  readonly file: string;
  readonly caption: string;
  readonly svg: string;
}

/** All drawings that the figures of a result suffice for. */
export function drawingsOf(result: Result): readonly Drawing[] {
  const subjects = [...new Set(result.figures.map(({ subject }) => subject))];
  return CHOICES.filter(({ bench }) => bench === result.bench).flatMap(({ file, caption, panels }) => {
    const drawn = panels.flatMap(panel => panelOf(panel, result, subjects));
    return drawn.length === 0 ? [] : { file, caption, svg: drawing(caption, drawn, subjects) };
  });
}

function panelOf(choice: PanelChoice, { figures, series }: Result, subjects: readonly string[]): readonly string[] {
  if ('seriesOf' in choice) {
    const { size } = series.findLast(({ part }) => part === choice.seriesOf) ?? {};
    const chosen = series.filter(each => each.part === choice.seriesOf && each.size === size);
    return chosen.length === 0 ? [] : [timePanel(`${choice.title}, ${size?.replace('x', '×')}`, chosen, subjects)];
  }
  // A logarithmic axis has no 0.
  const chosen = figures.filter(({ part, name, value }) => part === choice.part && name === choice.name && value > 0);
  return chosen.length === 0 ? [] : [sizePanel(choice.title, chosen, subjects)];
}
