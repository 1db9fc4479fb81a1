import './picture.css';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Place } from '../../../../../explain/index.ts';
import type { PortDetail } from '../../../../../inspect/index.ts';
import { Cards } from './cards.tsx';
import { ChosenWays } from './chosen-ways.tsx';
import { px } from './geometry.ts';
import { layoutPicture, MIN_WIDTH } from './layout.ts';
import { Lines } from './lines.tsx';
import { LIMITS, type PictureLimits, pictureOf } from './model.ts';
import { type Choices, move, type Position } from './moves.ts';
import { ObservedNote } from './observed-note.tsx';
import type { Selection } from './selection.ts';
import { useObserved } from './use-observed.ts';
import { WayList } from './way-list.tsx';
import { PLACES } from './words.ts';

export interface PictureViewProps {
  /** `ns/name` */
  readonly service: string;
  readonly port: PortDetail;
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
  readonly showsAllFrontends: boolean;
  readonly onShowFrontends: () => void;
  readonly onShowEndpoints: () => void;
}

/** The way from callers through the addresses to the endpoints. A narrow page has a list with the same facts. */
export function PictureView(props: PictureViewProps) {
  const { service, port, selection, onSelect, showsAllFrontends } = props;
  const limits: PictureLimits = showsAllFrontends ? { ...LIMITS, frontends: Number.POSITIVE_INFINITY } : LIMITS;
  const picture = useMemo(() => pictureOf(port, limits), [port, showsAllFrontends]);
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const observed = useObserved(service, picture);
  const placed = useMemo(() => layoutPicture(picture, width), [picture, width]);
  const isList = width < MIN_WIDTH;
  const all = useMemo(() => pictureOf(port, { frontends: Number.POSITIVE_INFINITY, endpoints: 0 }), [port]);
  const showAll = () => {
    // The button goes away, so the focus moves to what was chosen.
    frame.current?.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus();
    onSelect({});
  };
  return (
    <section class="way" aria-label="The way of connections" ref={frame} onKeyDown={event => choose(event, props)}>
      {!isList && (
        <div class="picture" style={{ width: px(placed.width), height: px(placed.height) }}>
          <Lines placed={placed} selection={selection} observed={observed} />
          <Cards {...props} picture={picture} placed={placed} observed={observed} />
        </div>
      )}
      <WayList picture={all} port={port} isShown={isList} selection={selection} onSelect={onSelect} />
      <div class={isList ? undefined : 'below'}>
        {!isList && <ChosenWays {...{ service, picture, port, selection }} onShowAll={showAll} />}
        <ObservedNote observed={observed} />
      </div>
    </section>
  );
}

/** Arrow keys choose, and Esc chooses nothing. */
function choose(event: KeyboardEvent, { port, selection, onSelect }: PictureViewProps): void {
  if (!(event.currentTarget instanceof HTMLElement)) return;
  if (event.key === 'Escape' && (selection.from !== undefined || selection.to !== undefined)) {
    event.stopPropagation();
    onSelect({});
    return;
  }
  const position = event.target instanceof HTMLElement ? positionOf(event.target) : undefined;
  const frontends = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-frontend]')].map(
    ({ dataset }) => dataset.frontend ?? '',
  );
  const choices: Choices = { callers: PLACES, frontends };
  const next = position && port && move(choices, position, event.key);
  if (!next) return;
  event.preventDefault();
  onSelect(next.column === 'callers' ? { ...selection, from: next.id as Place } : { ...selection, to: next.id });
  const attribute = next.column === 'callers' ? 'data-caller' : 'data-frontend';
  event.currentTarget.querySelector<HTMLElement>(`[${attribute}="${CSS.escape(next.id)}"]`)?.focus();
}

function positionOf({ dataset }: HTMLElement): Position | undefined {
  const { caller, frontend } = dataset;
  if (caller !== undefined) return { column: 'callers', id: caller };
  return frontend === undefined ? undefined : { column: 'frontends', id: frontend };
}

/** The width of the frame. Before the first measurement it is a good guess, so that nothing moves. */
function useWidth(frame: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(() => document.documentElement.clientWidth - 32);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const measure = () => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}
