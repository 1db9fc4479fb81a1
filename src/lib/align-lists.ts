/** An item of one list, or an item that both lists have at this place, or two items that stand for each other. */
export interface Aligned {
  readonly left: string | undefined;
  readonly right: string | undefined;
}

/** Longer differing parts are paired item by item, because the exact comparison takes time and memory by the product. */
const MAX_EXACT = 400;

/**
 * Puts two lists side by side, in order. Equal items stand beside each other. What remains between equal items is paired
 * item by item, and the rest of the longer side stands alone.
 */
export function alignLists(left: readonly string[], right: readonly string[]): readonly Aligned[] {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let end = 0;
  const shorter = Math.min(left.length, right.length) - start;
  while (end < shorter && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  const middle = alignMiddle(left.slice(start, left.length - end), right.slice(start, right.length - end));
  const same = (items: readonly string[]) => items.map(item => ({ left: item, right: item }));
  return [...same(left.slice(0, start)), ...middle, ...same(left.slice(left.length - end))];
}

function alignMiddle(left: readonly string[], right: readonly string[]): Aligned[] {
  if (left.length > MAX_EXACT || right.length > MAX_EXACT) return pairUp(left, right);
  const common = commonLengths(left, right);
  const aligned: Aligned[] = [];
  let gapLeft: string[] = [];
  let gapRight: string[] = [];
  for (let i = 0, j = 0; i < left.length || j < right.length; ) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      aligned.push(...pairUp(gapLeft, gapRight), { left: left[i++], right: right[j++] });
      [gapLeft, gapRight] = [[], []];
    } else if (j === right.length || (i < left.length && at(common, i + 1, j) >= at(common, i, j + 1))) {
      gapLeft.push(left[i++] ?? '');
    } else {
      gapRight.push(right[j++] ?? '');
    }
  }
  return [...aligned, ...pairUp(gapLeft, gapRight)];
}

function pairUp(left: readonly string[], right: readonly string[]): Aligned[] {
  const length = Math.max(left.length, right.length);
  return Array.from({ length }, (_, i) => ({ left: left[i], right: right[i] }));
}

/** For each pair of positions: how many items the rests of both lists have in common, in order. */
function commonLengths(left: readonly string[], right: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      const length =
        left[i] === right[j] ? at(lengths, i + 1, j + 1) + 1 : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
      lengths[i]?.fill(length, j, j + 1);
    }
  }
  return lengths;
}

function at(lengths: readonly Uint16Array[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}
