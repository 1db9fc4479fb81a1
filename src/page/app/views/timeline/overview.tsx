import { Axis } from './axis.tsx';
import type { GraphicProps } from './graphic.tsx';
import { LANES } from './lanes.ts';
import { countsOf, type TimedEntry } from './marks.ts';
import { lengthOf, pan, positionOf, type Span } from './span.ts';

const HEIGHT = 34;
/** Pixels of a bar. */
const BAR = 4;

/** The whole history as bars, and the chosen part of it. */
export function Overview({ entries, chosen, bounds, onChange }: GraphicProps) {
  const center = (at: number) => {
    const half = lengthOf(chosen) / 2;
    onChange(pan({ from: at - half, until: at + half, isFollowing: false }, 0, bounds));
  };
  return (
    <Axis
      class="overview"
      shown={bounds}
      chosen={chosen}
      bounds={bounds}
      height={HEIGHT}
      onChange={onChange}
      onClick={center}
    >
      {width => {
        const from = Math.max(0, positionOf(chosen.from, bounds, width));
        const until = Math.min(width, positionOf(chosen.until, bounds, width));
        return (
          <>
            <Bars entries={entries} bounds={bounds} width={width} />
            <rect class="brush" x={from} y={0.5} width={Math.max(2, until - from)} height={HEIGHT - 1} />
          </>
        );
      }}
    </Axis>
  );
}

interface BarsProps {
  readonly entries: readonly TimedEntry[];
  readonly bounds: Span;
  readonly width: number;
}

function Bars({ entries, bounds, width }: BarsProps) {
  const counts = countsOf(entries, bounds, Math.max(1, Math.floor(width / BAR)));
  const most = Math.max(1, ...counts.map(row => row.reduce((a, b) => a + b, 0)));
  const scale = (count: number) => (Math.sqrt(count) / Math.sqrt(most)) * (HEIGHT - 4);
  return (
    <>
      {counts.flatMap((row, i) => {
        const total = row.reduce((a, b) => a + b, 0);
        let y = HEIGHT - 1;
        return row.flatMap((count, lane) => {
          if (count === 0) return [];
          const height = (scale(total) * count) / total;
          y -= height;
          const { id, tone } = LANES[lane] ?? { id: '', tone: 'quiet' };
          return [<rect key={`${i} ${id}`} class={`fill-${tone}`} x={i * BAR} y={y} width={BAR - 1} height={height} />];
        });
      })}
    </>
  );
}
