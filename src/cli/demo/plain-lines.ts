import type { Cell, RowResults } from '../../demo/index.ts';
import { addressText, getsText, type Wording } from './gets.ts';
import { columns } from './line.ts';
import { isAsked } from './summary.ts';

const PLAIN: Wording = {
  endpoint: endpoint => `${endpoint} `,
  share: share => share,
  seenAs: caller => caller,
  failure: failure => failure,
  between: ' · ',
};

/** Lines for a pipe: one for each row and place, and again when it gets something else. */
export class PlainLines {
  readonly #told = new Map<string, string>();

  /** The lines that are new since the last call. Shares alone are nothing new. */
  news(rows: readonly RowResults[]): readonly string[] {
    const entries = rows.flatMap(row => row.cells.map(cell => ({ row, cell, key: `${row.row.key} ${cell.place}` })));
    const fresh = entries.filter(({ row, cell, key }) => this.#isNew(key, row, cell));
    const aligned = columns(entries.map(({ row, cell }) => lineCells(row, cell)));
    return [...this.#gone(entries), ...fresh.map(entry => aligned[entries.indexOf(entry)] ?? '')];
  }

  #isNew(key: string, row: RowResults, cell: Cell): boolean {
    if (isAsked(row) && !cell.isConclusive) return false;
    const told = this.#told.get(key);
    const now = getsText(row, cell, { ...PLAIN, share: () => '' }) + (cell.mismatch ?? '');
    this.#told.set(key, now);
    return told !== now;
  }

  #gone(entries: readonly { readonly key: string }[]): readonly string[] {
    const current = new Set(entries.map(({ key }) => key));
    const gone = [...this.#told.keys()].filter(key => !current.has(key));
    for (const key of gone) this.#told.delete(key);
    const rows = new Set(gone.map(key => key.slice(0, key.lastIndexOf(' '))));
    return [...rows].map(row => `- ${row} is gone`);
  }
}

function lineCells(rowResults: RowResults, cell: Cell): readonly string[] {
  const { port, frontend } = rowResults.row;
  const mark = cell.mismatch !== undefined ? '✗' : isAsked(rowResults) ? '✓' : '·';
  const wrong = cell.mismatch === undefined ? '' : `; but ${cell.mismatch}`;
  return [
    `${mark} ${port.name}`,
    frontend.kind,
    `${port.protocol} ${addressText(rowResults)}`,
    `from ${cell.place}`,
    `${getsText(rowResults, cell, PLAIN)}${wrong}`,
  ];
}
