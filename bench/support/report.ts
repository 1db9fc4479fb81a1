export type Row = Readonly<Record<string, string | number>>;

/** Prints rows as a table, or with --json as one JSON object a line. */
export function report(rows: readonly Row[]): void {
  if (process.argv.includes('--json')) {
    for (const row of rows) console.log(JSON.stringify(row));
    return;
  }
  const columns = Object.keys(rows[0] ?? {});
  const cells = [columns, ...rows.map(row => columns.map(column => String(row[column] ?? '')))];
  const widths = columns.map((_, i) => Math.max(...cells.map(line => line[i]?.length ?? 0)));
  for (const line of cells) console.log(line.map((cell, i) => cell.padStart(widths[i] ?? 0)).join('  '));
}

export function heapUsed(): number {
  const collect = globalThis.gc;
  if (!collect) throw new Error('run with --expose-gc');
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** The middle value of several runs. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
