/** Whether two lists have equal items in the same order. */
export function sameList<T>(
  a: readonly T[],
  b: readonly T[],
  sameItem: (a: T, b: T) => boolean = isIdentical,
): boolean {
  return a === b || (a.length === b.length && a.every((item, i) => sameItem(item, b[i] as T)));
}

function isIdentical(a: unknown, b: unknown): boolean {
  return a === b;
}
