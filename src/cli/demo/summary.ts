import type { RowResults } from '../../demo/index.ts';

/** Counts of tests. One test connects to one address from one place. */
export interface Summary {
  readonly services: number;
  readonly addresses: number;
  readonly tests: number;
  readonly conclusive: number;
  readonly mismatches: number;
  /** Problems of the manifests, the proxy and the echo servers. */
  readonly problems: number;
}

export function summaryOf(rows: readonly RowResults[], problems: readonly string[]): Summary {
  const cells = rows.filter(isTested).flatMap(({ cells }) => cells);
  return {
    services: new Set(rows.map(({ row }) => row.port.plan.service)).size,
    addresses: rows.length,
    tests: cells.length,
    conclusive: cells.filter(({ isConclusive }) => isConclusive).length,
    mismatches: cells.filter(({ mismatch }) => mismatch !== undefined).length,
    problems: problems.length,
  };
}

/** Whether the demo connects to the address of the row. */
export function isTested({ row }: RowResults): boolean {
  return row.ip !== undefined && row.port.protocol !== 'SCTP';
}

/** `✓ all 36 as planned`. There is a tick only if the manifests have no problems either. */
export function summaryText({ tests, conclusive, mismatches, problems }: Summary): string {
  const found = problems === 0 ? '' : `${counted(problems, 'problem')}, `;
  if (mismatches > 0) return `✗ ${found}${mismatches} of ${tests} not as planned`;
  if (conclusive < tests) return `${problems > 0 ? '!' : '…'} ${found}${conclusive} of ${tests} tested`;
  return problems > 0 ? `! ${found}${tests} of ${tests} as planned` : `✓ all ${tests} as planned`;
}

/** `1 Service`, `2 Services` */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
