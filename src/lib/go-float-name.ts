/** A number that JSON cannot hold, as Go names it. */
export function goFloatName(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
