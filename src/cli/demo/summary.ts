import type { RowResults } from '../../demo/index.ts';

/** Counts of tests. One test connects to one address from one place. */
export interface Summary {
  readonly services: number;
  readonly addresses: number;
  readonly tests: number;
  readonly conclusive: number;
  readonly mismatches: number;
}

export function summaryOf(rows: readonly RowResults[]): Summary {
  const cells = rows.filter(isTested).flatMap(({ cells }) => cells);
  return {
    services: new Set(rows.map(({ row }) => row.port.plan.service)).size,
    addresses: rows.length,
    tests: cells.length,
    conclusive: cells.filter(({ isConclusive }) => isConclusive).length,
    mismatches: cells.filter(({ mismatch }) => mismatch !== undefined).length,
  };
}

/** Whether the demo connects to the address of the row. */
export function isTested({ row }: RowResults): boolean {
  return row.ip !== undefined && row.port.protocol !== 'SCTP';
}

/** `✓ all 36 as planned` */
export function summaryText({ tests, conclusive, mismatches }: Summary): string {
  if (mismatches > 0) return `✗ ${mismatches} of ${tests} not as planned`;
  return conclusive < tests ? `… ${conclusive} of ${tests} tested` : `✓ all ${tests} as planned`;
}

/** `1 Service`, `2 Services` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
