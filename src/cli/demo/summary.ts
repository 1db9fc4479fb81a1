import type { RowResults } from '../../demo/index.ts';

/** How many questions there are, and how they were answered. */
export interface Summary {
  readonly services: number;
  readonly addresses: number;
  readonly asked: number;
  readonly answered: number;
  readonly disagreeing: number;
}

export function summaryOf(rows: readonly RowResults[]): Summary {
  const cells = rows.filter(isAsked).flatMap(({ cells }) => cells);
  return {
    services: new Set(rows.map(({ row }) => row.port.plan.service)).size,
    addresses: rows.length,
    asked: cells.length,
    answered: cells.filter(({ isConclusive }) => isConclusive).length,
    disagreeing: cells.filter(({ mismatch }) => mismatch !== undefined).length,
  };
}

export function isAsked({ row }: RowResults): boolean {
  return row.ip !== undefined && row.port.protocol !== 'SCTP';
}

/** `✓ all 36 as planned` */
export function summaryText({ asked, answered, disagreeing }: Summary): string {
  if (disagreeing > 0) return `✗ ${disagreeing} of ${asked} not as planned`;
  return answered < asked ? `… ${answered} of ${asked} asked` : `✓ all ${asked} as planned`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
