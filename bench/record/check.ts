import { figureKey, pairs } from './compare.ts';
import type { Comparison, Figure, FigureKind, RatioKind, Result } from './result.ts';

/** How many times worse a ratio may become. Times of a busy machine vary, and memory hardly does. */
const TOLERANCES: Readonly<Record<RatioKind, number>> = {
  time: 1.5,
  rate: 1.5,
  share: 1.5,
  memory: 1.15,
};
/** The slowest operations vary most. */
const TAIL_TOLERANCE = 3;
/** Versions of objects differ in length from run to run. */
const SIZE_TOLERANCE = 1.02;

/** Something that is worse than it was recorded. */
export interface Regression {
  readonly figure: string;
  readonly recorded: string;
  readonly now: string;
}

export interface CheckOutcome {
  /** How many figures were compared. */
  readonly compared: number;
  readonly regressions: readonly Regression[];
  /** Figures that are recorded, and that this run did not measure. */
  readonly missing: readonly string[];
}

/** Compares counts of work exactly, sizes nearly so, and the ratios of everything else loosely. */
export function checkResult(now: Result, recorded: Result): CheckOutcome {
  const outcomes = [
    checkValues(now, recorded, 'count', (value, former) => value !== former),
    checkValues(now, recorded, 'size', (value, former) => value > former * SIZE_TOLERANCE),
    ...recorded.comparisons.map(each => checkRatios(now, recorded, each)),
  ];
  return {
    compared: outcomes.reduce((sum, { compared }) => sum + compared, 0),
    regressions: outcomes.flatMap(({ regressions }) => regressions),
    missing: outcomes.flatMap(({ missing }) => missing),
  };
}

type IsWorse = (value: number, former: number) => boolean;

/** Compares values of our own. Those of subjects that are only there for comparison do not matter. */
function checkValues(now: Result, recorded: Result, kind: FigureKind, isWorse: IsWorse): CheckOutcome {
  const theirs = new Set(recorded.comparisons.map(comparison => comparison.theirs));
  const values = ({ figures }: Result) => figures.filter(each => each.kind === kind && !theirs.has(each.subject));
  const current = new Map(values(now).map(figure => [keyWithSubject(figure), figure]));
  return collect(values(recorded), keyWithSubject, figure => {
    const found = current.get(keyWithSubject(figure));
    if (!found) return undefined;
    return {
      isWorse: isWorse(found.value, figure.value),
      recorded: String(figure.value),
      now: String(found.value),
    };
  });
}

function checkRatios(now: Result, recorded: Result, { ours, theirs }: Comparison): CheckOutcome {
  const current = new Map(pairs(now.figures, ours, theirs).map(pair => [figureKey(pair.ours), pair.ratio]));
  const former = pairs(recorded.figures, ours, theirs).filter(
    pair => isRatioKind(pair.ours.kind) && isUsable(pair.ratio),
  );
  return collect(
    former,
    pair => `${keyWithSubject(pair.ours)} beside ${theirs}`,
    pair => {
      const ratio = current.get(figureKey(pair.ours));
      if (ratio === undefined || !isUsable(ratio)) return undefined;
      const isWorse = ratio * toleranceOf(pair.ours) < pair.ratio;
      return { isWorse, recorded: times(pair.ratio), now: times(ratio) };
    },
  );
}

interface Compared {
  readonly isWorse: boolean;
  readonly recorded: string;
  readonly now: string;
}

/** `compare` returns undefined for what this run did not measure. */
function collect<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  compare: (item: T) => Compared | undefined,
): CheckOutcome {
  const all = items.map(item => ({ figure: nameOf(item), outcome: compare(item) }));
  return {
    compared: all.filter(({ outcome }) => outcome).length,
    regressions: all.flatMap(({ figure, outcome }) =>
      outcome?.isWorse ? { figure, recorded: outcome.recorded, now: outcome.now } : [],
    ),
    missing: all.flatMap(({ figure, outcome }) => (outcome ? [] : figure)),
  };
}

function toleranceOf({ kind, name }: Figure): number {
  if (name.endsWith('p99')) return TAIL_TOLERANCE;
  return isRatioKind(kind) ? TOLERANCES[kind] : 1;
}

function isRatioKind(kind: FigureKind): kind is RatioKind {
  return kind in TOLERANCES;
}

function keyWithSubject(figure: Figure): string {
  return `${figure.subject}: ${figureKey(figure)}`;
}

/** A figure of 0 has no ratio. */
function isUsable(ratio: number): boolean {
  return Number.isFinite(ratio) && ratio > 0;
}

function times(ratio: number): string {
  return `${Number(ratio.toPrecision(3))} times better`;
}
