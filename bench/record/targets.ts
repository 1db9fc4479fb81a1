import { pairs } from './compare.ts';
import type { Figure } from './result.ts';

/** What a figure of ours has to reach, at every size at which it was measured. */
export type Target = { readonly part: string; readonly name: string } & (
  | { readonly timesBetter: number }
  | { readonly atMost: number }
);

/** Beside upstream's nftables mode in the same run. */
export const CLUSTER_TARGETS: readonly Target[] = [
  { part: 'cold start', name: 'all connectable', timesBetter: 5 },
  { part: 'cold start', name: 'resident', timesBetter: 1 },
  { part: 'one change', name: "from the API server's answer p50", timesBetter: 100 },
  { part: 'one change', name: 'processor', timesBetter: 100 },
  { part: 'churn', name: "from the API server's answer p99", timesBetter: 100 },
  { part: 'envelope', name: 'network programming p99', atMost: 1 },
  { part: 'envelope', name: 'greatest resident', atMost: 350 },
];

/** A target beside what was measured. */
export interface Goal {
  readonly target: string;
  readonly size: string;
  readonly ours: string;
  readonly theirs: string;
  readonly wanted: string;
  readonly isReached: boolean;
}

/** Targets with a ratio need the subject `theirs`. Those whose figures are missing are left out. */
export function goalsOf(
  figures: readonly Figure[],
  targets: readonly Target[],
  ours: string,
  theirs: string | undefined,
): readonly Goal[] {
  return targets.flatMap(target =>
    'atMost' in target ? limitGoals(figures, target, ours) : ratioGoals(figures, target, ours, theirs),
  );
}

function limitGoals(figures: readonly Figure[], target: Target & { atMost: number }, ours: string): readonly Goal[] {
  return figures
    .filter(({ subject, part, name }) => subject === ours && part === target.part && name === target.name)
    .map(figure => ({
      target: `${figure.part}: ${figure.name}`,
      size: figure.size,
      ours: valueText(figure),
      theirs: '',
      wanted: `at most ${target.atMost} ${figure.unit}`,
      isReached: figure.value <= target.atMost,
    }));
}

function ratioGoals(
  figures: readonly Figure[],
  target: Target & { timesBetter: number },
  ours: string,
  theirs: string | undefined,
): readonly Goal[] {
  if (theirs === undefined) return [];
  return pairs(figures, ours, theirs)
    .filter(pair => pair.ours.part === target.part && pair.ours.name === target.name)
    .map(pair => ({
      target: `${pair.ours.part}: ${pair.ours.name}`,
      size: pair.ours.size,
      ours: valueText(pair.ours),
      theirs: valueText(pair.theirs),
      wanted: `${target.timesBetter}×, measured ${Number(pair.ratio.toPrecision(3))}×`,
      isReached: pair.ratio >= target.timesBetter,
    }));
}

export function valueText({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  return unit === '' ? String(value) : `${value} ${unit}`;
}
