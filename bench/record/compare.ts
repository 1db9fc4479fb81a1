import type { Figure } from './result.ts';

/** Greater is better for a rate. For everything else, smaller is better. */
export function isGreaterBetter({ kind }: Pick<Figure, 'kind'>): boolean {
  return kind === 'rate';
}

/** Two figures of one run that differ only in the subject. */
export interface Pair {
  readonly ours: Figure;
  readonly theirs: Figure;
  /** How many times better ours is. */
  readonly ratio: number;
}

/** Identifies a figure among those of one subject. */
export function figureKey({ part, size, name }: Pick<Figure, 'part' | 'size' | 'name'>): string {
  return `${part}, ${size}, ${name}`;
}

/** All figures that both subjects have. */
export function pairs(figures: readonly Figure[], ours: string, theirs: string): readonly Pair[] {
  const others = new Map(figures.filter(({ subject }) => subject === theirs).map(each => [figureKey(each), each]));
  return figures
    .filter(({ subject }) => subject === ours)
    .flatMap(each => {
      const other = others.get(figureKey(each));
      return other ? { ours: each, theirs: other, ratio: timesBetter(each, other) } : [];
    });
}

function timesBetter(ours: Figure, theirs: Figure): number {
  return isGreaterBetter(ours) ? ours.value / theirs.value : theirs.value / ours.value;
}

/** `4.2×`, and `–` where a ratio means nothing. */
export function ratioText(ratio: number): string {
  if (!Number.isFinite(ratio)) return '–';
  return `${ratio >= 10 ? Math.round(ratio) : Number(ratio.toPrecision(2))}×`;
}
