import type { RowResults } from '../../demo/index.ts';

/** Counts of tests. One test connects to one address from one place. */
export interface Summary {
  readonly services: number;
  readonly addresses: number;
  readonly tests: number;
  /** Tests with a certain result. */
  readonly finished: number;
  /** Tests whose result is not as planned. */
  readonly wrong: number;
}

export function summaryOf(rows: readonly RowResults[]): Summary {
  const cells = rows.filter(isTested).flatMap(({ cells }) => cells);
  return {
    services: new Set(rows.map(({ row }) => row.port.plan.service)).size,
    addresses: rows.length,
    tests: cells.length,
    finished: cells.filter(({ isConclusive }) => isConclusive).length,
    wrong: cells.filter(({ mismatch }) => mismatch !== undefined).length,
  };
}

/** Whether the demo connects to the address of the row. */
export function isTested({ row }: RowResults): boolean {
  return row.ip !== undefined && row.port.protocol !== 'SCTP';
}

/** `✓ all 36 as planned` */
export function summaryText({ tests, finished, wrong }: Summary): string {
  if (wrong > 0) return `✗ ${wrong} of ${tests} not as planned`;
  return finished < tests ? `… ${finished} of ${tests} tested` : `✓ all ${tests} as planned`;
}

/** `1 Service`, `2 Services` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
