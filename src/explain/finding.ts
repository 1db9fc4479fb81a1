import type { NextStep, Step, StepVerdict, Topic } from './explanation.ts';

/** One step before it has its number, with what it means for the whole answer. */
export interface Finding extends Omit<Step, 'number'> {
  /** The sentence of the whole answer, if this finding is the reason. By default the text of the step. */
  readonly summary?: string | undefined;
  readonly next?: NextStep | undefined;
  /** With this step the verdict is unknown, whatever the other steps say. */
  readonly isBlind?: boolean | undefined;
}

type More = Partial<Pick<Finding, 'details' | 'data' | 'summary' | 'next' | 'isBlind'>>;

export function finding(topic: Topic, verdict: StepVerdict, text: string, more: More = {}): Finding {
  return { topic, verdict, text, details: [], ...more };
}

/** `1 endpoint`, `2 endpoints`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `a`, `a and b`, `a, b and c`, `a, b and 5 more`. */
export function listed(items: readonly string[], max = 5): string {
  const shown = items.length > max ? [...items.slice(0, max - 1), `${items.length - max + 1} more`] : items;
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

/** Aligns the cells of rows in columns, without blanks at the ends of lines. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  const isEmpty = (i: number) => widths[i] === 0;
  return rows.map(row =>
    row
      .flatMap((cell, i) => (isEmpty(i) ? [] : [cell.padEnd(widths[i] ?? 0)]))
      .join('  ')
      .trimEnd(),
  );
}
