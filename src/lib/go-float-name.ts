/** Go's name of a number that JSON cannot hold. */
export function goFloatName(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
