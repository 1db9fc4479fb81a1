import { Axis } from './axis.tsx';
import { LANES, type LaneId, wordsOf } from './lanes.ts';
import { bucketOf, countsOf, inSpan, type Mark, marksOf, type TimedEntry } from './marks.ts';
import { all, type ChosenSpan, lengthOf, pan, positionOf, type Span, spanText, zoom } from './span.ts';
import { ticksOf } from './ticks.ts';

interface Props {
  /** Of the lanes that are shown, sorted by time. */
  readonly entries: readonly TimedEntry[];
  readonly lanes: ReadonlySet<LaneId>;
  readonly chosen: ChosenSpan;
  readonly bounds: Span;
  readonly selected: number | undefined;
  readonly onChange: (span: ChosenSpan) => void;
  readonly onSelect: (id: number) => void;
}

const LANE_HEIGHT = 22;
const AXIS_HEIGHT = 18;
const OVERVIEW_HEIGHT = 34;
/** Pixels of a mark, and of a bar of the overview. */
const MARK = 6;
const BAR = 4;
const TICK = 90;

const KEYS: Readonly<Record<string, (chosen: ChosenSpan, bounds: Span) => ChosenSpan>> = {
  '+': (chosen, bounds) => zoom(chosen, 0.5, middle(chosen), bounds),
  '=': (chosen, bounds) => zoom(chosen, 0.5, middle(chosen), bounds),
  '-': (chosen, bounds) => zoom(chosen, 2, middle(chosen), bounds),
  ArrowLeft: (chosen, bounds) => pan(chosen, -0.25, bounds),
  ArrowRight: (chosen, bounds) => pan(chosen, 0.25, bounds),
  Home: (_, bounds) => all(bounds),
  End: (chosen, bounds) => ({ from: bounds.until - lengthOf(chosen), until: bounds.until, isFollowing: true }),
};

function middle({ from, until, isFollowing }: ChosenSpan): number {
  return isFollowing ? until : (from + until) / 2;
}

/** Overview and lanes. For screen readers it is a slider over the time; the table below has the same entries. */
export function Graphic(props: Props) {
  const { chosen, bounds, onChange } = props;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    onChange(next(chosen, bounds));
  };
  return (
    <div
      class="timeline-graphic"
      role="slider"
      aria-label="Time axis: plus and minus zoom, the arrows move, Home shows all, End follows"
      aria-valuemin={bounds.from}
      aria-valuemax={bounds.until}
      aria-valuenow={Math.min(chosen.until, bounds.until)}
      aria-valuetext={spanText(chosen)}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <Overview {...props} />
      <Lanes {...props} />
    </div>
  );
}

function Overview({ entries, chosen, bounds, onChange }: Props) {
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
      height={OVERVIEW_HEIGHT}
      onChange={onChange}
      onClick={center}
    >
      {width => {
        const from = Math.max(0, positionOf(chosen.from, bounds, width));
        const until = Math.min(width, positionOf(chosen.until, bounds, width));
        return (
          <>
            <Bars entries={entries} bounds={bounds} width={width} />
            <rect class="brush" x={from} y={0.5} width={Math.max(2, until - from)} height={OVERVIEW_HEIGHT - 1} />
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
  const scale = (count: number) => (Math.sqrt(count) / Math.sqrt(most)) * (OVERVIEW_HEIGHT - 4);
  return (
    <>
      {counts.flatMap((row, i) => {
        const total = row.reduce((a, b) => a + b, 0);
        let y = OVERVIEW_HEIGHT - 1;
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

function Lanes({ entries, lanes, chosen, bounds, selected, onChange, onSelect }: Props) {
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
          {ticksOf(chosen, Math.max(2, Math.floor(width / TICK))).map(({ at, text }) => (
            <g key={at} class="tick">
              <line
                x1={positionOf(at, chosen, width)}
                x2={positionOf(at, chosen, width)}
                y1={0}
                y2={height - AXIS_HEIGHT}
              />
              <text x={positionOf(at, chosen, width) + 3} y={height - 5}>
                {text}
              </text>
            </g>
          ))}
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
