import { availableParallelism, loadavg, release } from 'node:os';

export type Row = Readonly<Record<string, string | number>>;

const isJson = process.argv.includes('--json');

/**
 * Prints rows as a table, or with --json as one JSON object on a line. A bench with several tables titles each of them.
 */
export function report(rows: readonly Row[], title?: string): void {
  if (isJson) {
    for (const row of rows) console.log(JSON.stringify(title === undefined ? row : { table: title, ...row }));
    return;
  }
  if (title !== undefined) console.log(`\n${title}`);
  const columns = Object.keys(rows[0] ?? {});
  const cells = [columns, ...rows.map(row => columns.map(column => String(row[column] ?? '')))];
  const widths = columns.map((_, i) => Math.max(...cells.map(line => line[i]?.length ?? 0)));
  for (const line of cells) console.log(line.map((cell, i) => cell.padStart(widths[i] ?? 0)).join('  '));
}

/** Prints the kernel, the cores and the load of the machine, which the figures depend on. */
export function reportMachine(): void {
  const load = loadavg()[0]?.toFixed(2);
  if (!isJson) console.log(`Linux ${release()}, ${availableParallelism()} cores, load average before: ${load}`);
}

/** Rounds to a few decimals, and numbers from 100 on to integers. */
export function rounded(value: number, decimals = 2): number {
  return value < 100 ? Number(value.toFixed(decimals)) : Math.round(value);
}

export function mebibytes(bytes: number): number {
  return Number((bytes / 2 ** 20).toFixed(1));
}

/** How many a second, if `count` took the milliseconds. */
export function perSecond(count: number, milliseconds: number): number {
  return Math.round(count / (milliseconds / 1000));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that this part of the values is below: 0.99 for p99. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
