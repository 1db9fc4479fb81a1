import './connections.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { SmallPlot } from '../../../parts/plots/small-plot.tsx';
import { now } from '../../../state/clock.ts';
import { hello, onLive } from '../../../state/live.ts';
import { addSample, currentRate, ratesOf, type Sample } from './samples.ts';

/** One pixel a second. */
const SIZE = { width: 240, height: 40 };

interface ConnectionsProps {
  /** `ns/name` */
  readonly service: string;
  /** As the row of the Service says. Undefined if the mode does not count. */
  readonly connections: number | undefined;
}

/** Connections so far and a second, and a plot of the last minutes. */
export function Connections({ service, connections }: ConnectionsProps) {
  const samples = useSamples(service, connections);
  const time = now.value;
  const { times, perSecond } = useMemo(() => ratesOf(samples, time), [samples, time]);
  // The proxy says early that it counts. So the plot has its room before there are counters.
  if (connections === undefined && !hello.value?.countsConnections) return null;
  const total = Math.max(connections ?? 0, samples.at(-1)?.connections ?? 0);
  const rate = currentRate(samples, time) ?? 0;
  return (
    <figure class="connections">
      <figcaption>
        <strong>{total.toLocaleString('en')}</strong>{' '}
        <span class="quiet">{total === 1 ? 'connection,' : 'connections,'}</span>{' '}
        <strong>{rate.toLocaleString('en', { maximumFractionDigits: 1 })}</strong> <span class="quiet">a second</span>
      </figcaption>
      <SmallPlot
        seconds={times}
        values={perSecond}
        kind="bars"
        label="New connections a second in the last four minutes"
        {...SIZE}
      />
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
