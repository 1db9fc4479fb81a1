import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { IndexedService } from '../../state/service-index.ts';
import { Row } from './service-row.tsx';
import { poolSize, rowAfterKey, scrollTopFor, type Viewport, virtualWindow } from './virtual-window.ts';

/** The heights of rows in services.css. */
const ROW_HEIGHT = 30;
const PHONE_ROW_HEIGHT = 58;
const PHONE = '(max-width: 640px)';

const COLUMNS = [
  ['cell-name', 'Service'],
  ['cell-addresses', 'Addresses and ports'],
  ['cell-endpoints number', 'Endpoints'],
  ['cell-rate number', 'Conn/s'],
  ['cell-state', 'State'],
  ['cell-changed', 'Changed'],
] as const;

interface TableProps {
  readonly services: readonly IndexedService[];
  readonly found: ReadonlyMap<string, string>;
  /** Changes when the table should begin at its first row again. */
  readonly question: string;
}

/** A table of any length, of which only the visible rows exist. Arrow keys move the focus, Enter opens the row. */
export function ServiceTable({ services, found, question }: TableProps) {
  const box = useRef<HTMLDivElement>(null);
  const viewport = { ...useViewport(box, question), count: services.length };
  const { first, end } = virtualWindow(viewport);
  const [focused, setFocused] = useState(0);
  const active = Math.max(first, Math.min(focused, end - 1));
  const press = useRowKeys(box, viewport, focused, setFocused);
  const pool = poolSize(viewport);
  return (
    <div ref={box} class="service-box">
      <table class="service-table" aria-label="Services" aria-rowcount={services.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {COLUMNS.map(([name, text]) => (
              <th key={name} class={name} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <Space rows={first} rowHeight={viewport.rowHeight} />
        <tbody>
          {services.slice(first, end).map((service, i) => (
            <Row
              key={(first + i) % pool}
              service={service}
              index={first + i}
              isActive={first + i === active}
              foundBy={found.get(service.key)}
              onKey={press}
              onFocus={setFocused}
            />
          ))}
        </tbody>
        <Space rows={services.length - end} rowHeight={viewport.rowHeight} />
      </table>
    </div>
  );
}

/** Moves the focus by keys. The row of the focus may have to be drawn first. */
function useRowKeys(
  box: { readonly current: HTMLElement | null },
  viewport: Viewport,
  focused: number,
  setFocused: (row: number) => void,
): (event: KeyboardEvent) => void {
  const isMoving = useRef(false);
  const newest = useRef(viewport);
  newest.current = viewport;
  useLayoutEffect(() => {
    if (!isMoving.current) return;
    const link = box.current?.querySelector<HTMLElement>(`[data-index="${focused}"]`);
    link?.focus({ preventScroll: true });
    isMoving.current = !link;
  });
  return useCallback((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.currentTarget instanceof HTMLElement)) return;
    const next = rowAfterKey(event.key, Number(event.currentTarget.dataset.index), newest.current);
    if (next === undefined) return;
    event.preventDefault();
    isMoving.current = true;
    setFocused(next);
    box.current?.scrollTo(0, scrollTopFor(next, newest.current));
  }, []);
}

/** The room of rows that are not there. */
function Space({ rows, rowHeight }: { readonly rows: number; readonly rowHeight: number }) {
  return (
    <tbody class="space" aria-hidden="true">
      <tr>
        <td style={{ height: `${rows * rowHeight}px` }} />
      </tr>
    </tbody>
  );
}

/** The part of the table that the box shows. */
function useViewport(box: { readonly current: HTMLElement | null }, question: string): Omit<Viewport, 'count'> {
  const [seen, setSeen] = useState({ scrollTop: 0, height: 600, rowHeight: ROW_HEIGHT });
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => {
      const rowHeight = matchMedia(PHONE).matches ? PHONE_ROW_HEIGHT : ROW_HEIGHT;
      const height = element.clientHeight - (element.querySelector('thead')?.clientHeight ?? 0);
      setSeen({ scrollTop: element.scrollTop, height, rowHeight });
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  useLayoutEffect(() => box.current?.scrollTo(0, 0), [question]);
  return seen;
}
