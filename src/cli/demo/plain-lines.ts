import type { Cell, RowResults } from '../../demo/index.ts';
import { columns } from '../terminal-text.ts';
import { addressText, type ResultFormat, resultText } from './result-text.ts';
import { isTested } from './summary.ts';

const PLAIN: ResultFormat = {
  endpoint: endpoint => `${endpoint} `,
  share: share => share,
  seenAs: caller => caller,
  failure: failure => failure,
  separator: ' · ',
};

/** Writes lines for a pipe: one for each row and place, and another one when the result changes. */
export class PlainLines {
  /** The last printed result of each row and place. */
  readonly #printed = new Map<string, string>();

  /** Returns the lines that are new since the last call. A change of shares alone gives no new line. */
  newLines(rows: readonly RowResults[]): readonly string[] {
    const entries = rows.flatMap(row => row.cells.map(cell => ({ row, cell, key: `${row.row.key} ${cell.place}` })));
    const fresh = entries.filter(({ row, cell, key }) => this.#isNew(key, row, cell));
    const aligned = columns(entries.map(({ row, cell }) => lineCells(row, cell)));
    return [...this.#removedLines(entries), ...fresh.map(entry => aligned[entries.indexOf(entry)] ?? '')];
  }

  #isNew(key: string, row: RowResults, cell: Cell): boolean {
    if (isTested(row) && !cell.isConclusive) return false;
    const before = this.#printed.get(key);
    const now = resultText(row, cell, { ...PLAIN, share: () => '' }) + (cell.mismatch ?? '');
    this.#printed.set(key, now);
    return before !== now;
  }

  #removedLines(entries: readonly { readonly key: string }[]): readonly string[] {
    const current = new Set(entries.map(({ key }) => key));
    const removed = [...this.#printed.keys()].filter(key => !current.has(key));
    for (const key of removed) this.#printed.delete(key);
    const rows = new Set(removed.map(key => key.slice(0, key.lastIndexOf(' '))));
    return [...rows].map(row => `- ${row} is gone`);
  }
}

function lineCells(rowResults: RowResults, cell: Cell): readonly string[] {
  const { port, frontend } = rowResults.row;
  const mark = cell.mismatch !== undefined ? '✗' : isTested(rowResults) ? '✓' : '·';
  const wrong = cell.mismatch === undefined ? '' : `; but ${cell.mismatch}`;
  return [
    `${mark} ${port.name}`,
    frontend.kind,
    `${port.protocol} ${addressText(rowResults)}`,
    `from ${cell.place}`,
    `${resultText(rowResults, cell, PLAIN)}${wrong}`,
  ];
}
