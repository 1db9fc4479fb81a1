import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Drawn, readGestures } from './gestures.ts';
import { type ChosenSpan, momentAt, pan, type Span, select, zoom } from './span.ts';

interface Props {
  readonly class: string;
  /** What the width of the element stands for. */
  readonly shown: Span;
  readonly chosen: ChosenSpan;
  readonly bounds: Span;
  readonly height: number;
  readonly onChange: (span: ChosenSpan) => void;
  readonly onClick: (at: number, y: number, width: number) => void;
  /** Draws, for a width. */
  readonly children: (width: number) => ComponentChildren;
}

/** An SVG that is as wide as there is room, on which a reader draws, zooms and moves. */
export function Axis(props: Props) {
  const { height, children } = props;
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const width = useSignal(0);
  const drawn = useSignal<Drawn | undefined>(undefined);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      width.value = element.clientWidth;
    });
    observer.observe(element);
    width.value = element.clientWidth;
    const moment = (x: number) => momentAt(x, latest.current.shown, width.value);
    const end = readGestures(element, {
      zoomed: (factor, x) => change(({ chosen, bounds }) => zoom(chosen, factor, moment(x), bounds)),
      panned: part => change(({ chosen, bounds }) => pan(chosen, part, bounds)),
      drawing: span => {
        drawn.value = span;
      },
      selected: ({ a, b }) => change(({ bounds }) => select(moment(a), moment(b), bounds)),
      clicked: (x, y) => latest.current.onClick(moment(x), y, width.value),
    });
    function change(next: (now: Props) => ChosenSpan): void {
      latest.current.onChange(next(latest.current));
    }
    return () => {
      observer.disconnect();
      end();
    };
  }, []);
  const span = drawn.value;
  return (
    <div class={`axis ${props.class}`} ref={box}>
      <svg width={width.value} height={height} aria-hidden="true">
        {width.value > 0 && children(width.value)}
        {span && (
          <rect class="drawn" x={Math.min(span.a, span.b)} y={0} width={Math.abs(span.b - span.a)} height={height} />
        )}
      </svg>
    </div>
  );
}
