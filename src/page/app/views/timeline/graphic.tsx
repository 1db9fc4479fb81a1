import type { LaneId } from './lanes.ts';
import { LanesAxis } from './lanes-axis.tsx';
import type { TimedEntry } from './marks.ts';
import { Overview } from './overview.tsx';
import { all, type ChosenSpan, lengthOf, pan, type Span, spanText, zoom } from './span.ts';

export interface GraphicProps {
  /** Of the lanes that are shown, sorted by time. */
  readonly entries: readonly TimedEntry[];
  readonly lanes: ReadonlySet<LaneId>;
  readonly chosen: ChosenSpan;
  readonly bounds: Span;
  readonly selected: number | undefined;
  readonly onChange: (span: ChosenSpan) => void;
  readonly onSelect: (id: number) => void;
}

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
export function Graphic(props: GraphicProps) {
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
      <LanesAxis {...props} />
    </div>
  );
}
