/** A part of a text, and whether the other text has it, too. */
export interface Segment {
  readonly text: string;
  readonly isSame: boolean;
}

export interface TextDiff {
  readonly wanted: readonly Segment[];
  readonly found: readonly Segment[];
}

/** Longer texts are compared only at their beginning and end. */
const MAX_WORDS = 200;

/** Compares two texts word by word. Spaces belong to the word before them. */
export function diffTexts(wanted: string, found: string): TextDiff {
  const left = wordsOf(wanted);
  const right = wordsOf(found);
  const isLong = left.length > MAX_WORDS || right.length > MAX_WORDS;
  const same = isLong ? commonEnds(left, right) : longestCommon(left, right);
  return { wanted: segments(left, same.left), found: segments(right, same.right) };
}

interface SameWords {
  readonly left: ReadonlySet<number>;
  readonly right: ReadonlySet<number>;
}

function wordsOf(text: string): readonly string[] {
  return text.match(/\S+\s*|^\s+/g) ?? [];
}

/** Words are equal without the spaces behind them: the last word has none. */
function isEqual(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a.trimEnd() === b.trimEnd();
}

function commonEnds(left: readonly string[], right: readonly string[]): SameWords {
  const same = { left: new Set<number>(), right: new Set<number>() };
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  for (; start < shorter && isEqual(left[start], right[start]); start++) mark(same, start, start);
  for (let end = 1; end <= shorter - start && isEqual(left.at(-end), right.at(-end)); end++) {
    mark(same, left.length - end, right.length - end);
  }
  return same;
}

/** The longest common subsequence, by the usual table. */
function longestCommon(left: readonly string[], right: readonly string[]): SameWords {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const row = lengths[i];
      if (row) row[j] = isEqual(left[i], right[j]) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const same = { left: new Set<number>(), right: new Set<number>() };
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (isEqual(left[i], right[j])) mark(same, i++, j++);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return same;
}

function mark(same: { readonly left: Set<number>; readonly right: Set<number> }, i: number, j: number): void {
  same.left.add(i);
  same.right.add(j);
}

/** Neighbours of the same kind become one segment. */
function segments(words: readonly string[], same: ReadonlySet<number>): readonly Segment[] {
  const found: { text: string; readonly isSame: boolean }[] = [];
  words.forEach((word, index) => {
    const isSame = same.has(index);
    const last = found.at(-1);
    if (last?.isSame === isSame) last.text += word;
    else found.push({ text: word, isSame });
  });
  return found;
}
