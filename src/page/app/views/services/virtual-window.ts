export interface Viewport {
  readonly scrollTop: number;
  readonly height: number;
  readonly rowHeight: number;
  readonly count: number;
}

/** Rows above and below the visible ones, so that a fast scroll shows no gap. */
const SPARE_ROWS = 6;

export interface VirtualWindow {
  /** The first row that is drawn. */
  readonly first: number;
  /** One more than the last row that is drawn. */
  readonly end: number;
}

export function virtualWindow({ scrollTop, height, rowHeight, count }: Viewport): VirtualWindow {
  const top = Math.min(Math.max(0, scrollTop), Math.max(0, count * rowHeight - height));
  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE_ROWS);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + SPARE_ROWS);
  return { first, end };
}

/** The largest number of rows that a window has. Row `i` may use the elements of row `i - poolSize`, which is gone then. */
export function poolSize({ height, rowHeight }: Pick<Viewport, 'height' | 'rowHeight'>): number {
  return Math.ceil(height / rowHeight) + 1 + 2 * SPARE_ROWS;
}

/** Where to scroll so that a row is wholly visible. It moves no more than it must. */
export function scrollTopFor(row: number, { scrollTop, height, rowHeight }: Viewport): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + height ? top + rowHeight - height : scrollTop;
}

/** The row that a key leads to. Undefined if the key does not move. */
export function rowAfterKey(key: string, row: number, { height, rowHeight, count }: Viewport): number | undefined {
  const page = Math.max(1, Math.floor(height / rowHeight) - 1);
  const last = count - 1;
  const clamp = (to: number) => Math.max(0, Math.min(last, to));
  switch (key) {
    case 'ArrowDown':
      return clamp(row + 1);
    case 'ArrowUp':
      return clamp(row - 1);
    case 'PageDown':
      return clamp(row + page);
    case 'PageUp':
      return clamp(row - page);
    case 'Home':
      return clamp(0);
    case 'End':
      return clamp(last);
    default:
      return undefined;
  }
}
