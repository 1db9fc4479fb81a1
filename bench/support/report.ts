export type Row = Readonly<Record<string, string | number>>;

/** Prints rows as a table, or with --json as one JSON object a line. Of several tables each has a title. */
export function report(rows: readonly Row[], title?: string): void {
  if (process.argv.includes('--json')) {
    for (const row of rows) console.log(JSON.stringify(title === undefined ? row : { table: title, ...row }));
    return;
  }
  if (title !== undefined) console.log(`\n${title}`);
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

/** Moves what was just made out of the way, so that its collection is not charged to what is measured next. */
export function collectYoung(): void {
  for (let i = 0; i < 2; i++) globalThis.gc?.({ type: 'minor' });
}

/** The middle value of several runs. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that so large a part of the values is below: 0.99 for p99. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
