import { Axis } from './axis.tsx';
import type { GraphicProps } from './graphic.tsx';
import { LANES, type LaneId, wordsOf } from './lanes.ts';
import { bucketOf, inSpan, type Mark, marksOf } from './marks.ts';
import { positionOf, type Span } from './span.ts';
import { ticksOf } from './ticks.ts';

const LANE_HEIGHT = 22;
const AXIS_HEIGHT = 18;
/** Pixels of a mark, and at least from tick to tick. */
const MARK = 6;
const TICK = 90;

/** The chosen part of the history, with a lane for each kind. */
export function LanesAxis({ entries, lanes, chosen, bounds, selected, onChange, onSelect }: GraphicProps) {
  const shown = LANES.filter(({ id }) => lanes.has(id));
  const height = shown.length * LANE_HEIGHT + AXIS_HEIGHT;
  const laneAt = (y: number) => shown[Math.floor(y / LANE_HEIGHT)]?.id;
  const marks = (width: number) => marksOf(inSpan(entries, chosen), chosen, Math.max(1, Math.floor(width / MARK)));
  const click = (at: number, y: number, width: number) => {
    const bucket = bucketOf(at, chosen, Math.max(1, Math.floor(width / MARK)));
    const near = nearest(marks(width), laneAt(y), bucket ?? 0);
    if (near) onSelect(near.last.entry.id);
  };
  return (
    <Axis
      class="lanes"
      shown={chosen}
      chosen={chosen}
      bounds={bounds}
      height={height}
      onChange={onChange}
      onClick={click}
    >
      {width => (
        <>
          <Ticks span={chosen} width={width} height={height} />
          {shown.map(({ id, text }, i) => (
            <g key={id} class="lane">
              <line x1={0} x2={width} y1={(i + 1) * LANE_HEIGHT} y2={(i + 1) * LANE_HEIGHT} />
              <text x={2} y={i * LANE_HEIGHT + 14}>
                {text}
              </text>
            </g>
          ))}
          {marks(width).map(mark => (
            <MarkView
              key={`${mark.lane} ${mark.bucket}`}
              mark={mark}
              row={shown.findIndex(({ id }) => id === mark.lane)}
              isSelected={mark.last.entry.id === selected}
            />
          ))}
        </>
      )}
    </Axis>
  );
}

interface TicksProps {
  readonly span: Span;
  readonly width: number;
  readonly height: number;
}

function Ticks({ span, width, height }: TicksProps) {
  const ticks = ticksOf(span, Math.max(2, Math.floor(width / TICK)));
  return (
    <>
      {ticks.map(({ at, text }) => {
        const x = positionOf(at, span, width);
        const isAtEdge = x > width - TICK / 2;
        return (
          <g key={at} class="tick">
            <line x1={x} x2={x} y1={0} y2={height - AXIS_HEIGHT} />
            <text x={isAtEdge ? x - 3 : x + 3} y={height - 5} text-anchor={isAtEdge ? 'end' : 'start'}>
              {text}
            </text>
          </g>
        );
      })}
    </>
  );
}

/** The mark of the lane that is nearest to a click, within a finger's width. */
function nearest(marks: readonly Mark[], lane: LaneId | undefined, bucket: number): Mark | undefined {
  const distance = (mark: Mark) => Math.abs(mark.bucket - bucket);
  return marks.filter(mark => mark.lane === lane && distance(mark) <= 2).sort((a, b) => distance(a) - distance(b))[0];
}

function MarkView({
  mark,
  row,
  isSelected,
}: {
  readonly mark: Mark;
  readonly row: number;
  readonly isSelected: boolean;
}) {
  const height = Math.min(LANE_HEIGHT - 4, 8 + Math.round(3 * Math.log2(mark.count)));
  return (
    <rect
      class={`mark fill-${mark.tone}${isSelected ? ' selected' : ''}`}
      x={mark.bucket * MARK}
      y={(row + 1) * LANE_HEIGHT - 1 - height}
      width={MARK - 1}
      height={height}
    >
      <title>{markText(mark)}</title>
    </rect>
  );
}

function markText({ count, last: { entry } }: Mark): string {
  const what = `${wordsOf(entry).word} ${entry.service ?? entry.object ?? ''}: ${entry.change}`;
  return count === 1 ? what : `${count} entries, the last: ${what}`;
}
