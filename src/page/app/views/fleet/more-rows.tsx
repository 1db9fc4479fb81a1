import { useState } from 'preact/hooks';

/** A table of thousands of rows makes every change slow, and the rows with findings are the first ones. */
const MAX_ROWS = 300;

export function useLimit(): readonly [limit: number, showAll: () => void] {
  const [limit, setLimit] = useState(MAX_ROWS);
  return [limit, () => setLimit(Number.POSITIVE_INFINITY)];
}

interface MoreRowsProps {
  readonly all: number;
  readonly limit: number;
  readonly onShowAll: () => void;
}

export function MoreRows({ all, limit, onShowAll }: MoreRowsProps) {
  if (all <= limit) return null;
  return (
    <p class="toolbar">
      <span class="quiet">
        The first {limit} of {all} nodes.
      </span>
      <button type="button" onClick={onShowAll}>
        Show all
      </button>
    </p>
  );
}
