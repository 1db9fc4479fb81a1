import 'uplot/dist/uPlot.min.css';
import './connections.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { now } from '../../../state/clock.ts';
import { onLive } from '../../../state/live.ts';
import { addSample, currentRate, ratesOf, type Sample } from './samples.ts';

const SIZE = { width: 240, height: 48 };

interface ConnectionsProps {
  /** `ns/name` */
  readonly service: string;
  /** As the row of the Service says. Undefined if the mode does not count. */
  readonly connections: number | undefined;
}

/** Connections so far and a second, and a plot of the last minutes. */
export function Connections({ service, connections }: ConnectionsProps) {
  const samples = useSamples(service, connections);
  if (connections === undefined) return null;
  const total = Math.max(connections, samples.at(-1)?.connections ?? 0);
  const rate = currentRate(samples, now.value) ?? 0;
  return (
    <figure class="connections">
      <figcaption>
        <strong>{total.toLocaleString('en')}</strong> <span class="quiet">connections,</span>{' '}
        <strong>{rate.toLocaleString('en', { maximumFractionDigits: 1 })}</strong> <span class="quiet">a second</span>
      </figcaption>
      <Plot samples={samples} />
    </figure>
  );
}

function useSamples(service: string, connections: number | undefined): readonly Sample[] {
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  const isKnown = connections !== undefined;
  useEffect(() => {
    if (!isKnown) return undefined;
    setSamples(known => (known.length === 0 ? [{ at: Date.now(), connections: connections ?? 0 }] : known));
    return onLive('connections', ({ at, counts }) => {
      const own = counts.find(([name]) => name === service);
      if (own) setSamples(known => addSample(known, { at, connections: own[1] }));
    });
  }, [service, isKnown]);
  return samples;
}

function Plot({ samples }: { readonly samples: readonly Sample[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const time = now.value;
  useEffect(() => {
    if (!frame.current) return undefined;
    const made = new uPlot(options(frame.current), [[], []], frame.current);
    plot.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    const { times, perSecond } = ratesOf(samples, time);
    plot.current?.setData([[...times], [...perSecond]]);
  }, [samples, time]);
  return <div class="plot" ref={frame} role="img" aria-label="New connections a second in the last five minutes" />;
}

function options(element: HTMLElement): uPlot.Options {
  const color = (name: string) => () => getComputedStyle(element).getPropertyValue(name).trim() || 'currentColor';
  return {
    ...SIZE,
    legend: { show: false },
    cursor: { show: false },
    padding: [4, 0, 0, 0],
    axes: [{ show: false }, { show: false }],
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(1, max)] } },
    series: [{}, { stroke: color('color'), fill: color('background-color'), width: 1.5, points: { show: false } }],
  };
}
