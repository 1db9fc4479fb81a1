type Entries = ReadonlyMap<unknown, unknown> | undefined;

/** Whether both maps have the same keys with the same values, or both are undefined. */
export function sameMap(a: Entries, b: Entries): boolean {
  if (a === b) return true;
  if (!a || !b || a.size !== b.size) return false;
  for (const [key, value] of a) if (!b.has(key) || b.get(key) !== value) return false;
  return true;
}
