import { all, type ChosenSpan, lengthOf, pan, type Span, zoom } from './span.ts';

interface Props {
  readonly chosen: ChosenSpan;
  readonly bounds: Span;
  readonly onChange: (span: ChosenSpan) => void;
}

const MINUTE = 60_000;
const LENGTHS = [
  { text: '5 min', length: 5 * MINUTE },
  { text: '15 min', length: 15 * MINUTE },
  { text: '1 h', length: 60 * MINUTE },
] as const;

/** Zooms and moves without a pointer. */
export function TimeTools({ chosen, bounds, onChange }: Props) {
  const { from, until, isFollowing } = chosen;
  const center = isFollowing ? until : (from + until) / 2;
  const last = (length: number) => ({ from: bounds.until - length, until: bounds.until, isFollowing: true });
  const isLast = (length: number) => isFollowing && Math.abs(lengthOf(chosen) - length) < 1000;
  return (
    <div class="toolbar">
      {LENGTHS.map(({ text, length }) => (
        <button key={text} type="button" aria-pressed={isLast(length)} onClick={() => onChange(last(length))}>
          {text}
        </button>
      ))}
      <button type="button" onClick={() => onChange(all(bounds))}>
        All
      </button>
      <span class="gap" />
      <button type="button" aria-label="Zoom in" onClick={() => onChange(zoom(chosen, 0.5, center, bounds))}>
        +
      </button>
      <button type="button" aria-label="Zoom out" onClick={() => onChange(zoom(chosen, 2, center, bounds))}>
        −
      </button>
      <button type="button" aria-label="Earlier" onClick={() => onChange(pan(chosen, -0.5, bounds))}>
        ←
      </button>
      <button type="button" aria-label="Later" onClick={() => onChange(pan(chosen, 0.5, bounds))}>
        →
      </button>
      <button type="button" aria-pressed={isFollowing} onClick={() => onChange(last(lengthOf(chosen)))}>
        Follow
      </button>
    </div>
  );
}
