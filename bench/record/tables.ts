import { type Row, report } from '../support/report.ts';
import { figureKey, pairs, ratioText } from './compare.ts';
import type { Figure } from './result.ts';
import type { Goal } from './targets.ts';

/** Prints one table for each part and size: a row for each figure, and a column for each subject. */
export function reportFigures(figures: readonly Figure[], ours: string, theirs: string | undefined): void {
  for (const [title, group] of groupedBy(figures, ({ part, size }) => `${part}, ${size}`)) {
    report(rowsOf(group, ours, theirs), title);
  }
}

/** One row for each figure. The last column is how many times better `ours` is than `theirs`. */
export function rowsOf(figures: readonly Figure[], ours: string, theirs: string | undefined): readonly Row[] {
  const subjects = [...new Set(figures.map(({ subject }) => subject))];
  const ratios = new Map(
    theirs === undefined ? [] : pairs(figures, ours, theirs).map(pair => [figureKey(pair.ours), ratioText(pair.ratio)]),
  );
  return [...groupedBy(figures, figureKey)].map(([key, [first, ...others]]) => {
    const all = first ? [first, ...others] : others;
    const values = subjects.map(subject => [subject, cell(all.find(each => each.subject === subject))]);
    const ratio = theirs === undefined ? {} : { better: ratios.get(key) ?? '' };
    return { figure: nameOf(first), ...Object.fromEntries(values), ...ratio };
  });
}

function nameOf(figure: Figure | undefined): string {
  if (!figure) return '';
  return figure.unit === '' ? figure.name : `${figure.name}, ${figure.unit}`;
}

/** `120 (115–131)` with the spread of repetitions. */
function cell(figure: Figure | undefined): string {
  if (!figure) return '';
  const [least, greatest] = figure.spread ?? [];
  const spread = least === undefined || least === greatest ? '' : ` (${least}–${greatest})`;
  return `${figure.value}${spread}`;
}

export function reportGoals(goals: readonly Goal[]): void {
  if (goals.length === 0) return;
  report(
    goals.map(({ isReached, ...goal }) => ({ ...goal, reached: isReached ? 'yes' : 'NO' })),
    'targets',
  );
}

export function groupedBy<T>(list: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
