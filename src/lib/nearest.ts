/** Words that differ in more than this share of their letters are not alike. */
const MAX_SHARE = 1 / 3;
const MIN_PREFIX = 3;

/** Returns the candidate that the operator probably meant. Undefined if none is similar enough. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const same = candidates.find(candidate => candidate.toLowerCase() === word.toLowerCase());
  if (same !== undefined) return same;
  const limit = Math.max(1, Math.floor(word.length * MAX_SHARE));
  const ranked = candidates
    .map(candidate => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= limit && distance < word.length)
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate ?? candidateWithPrefix(word, candidates);
}

/** `--cluster` can only mean `--cluster-cidr`. */
function candidateWithPrefix(word: string, candidates: readonly string[]): string | undefined {
  const matches = candidates.filter(candidate => candidate.startsWith(word));
  return word.length >= MIN_PREFIX && matches.length === 1 ? matches[0] : undefined;
}

/** The number of letters to insert, delete, replace or swap with their neighbour. */
export function editDistance(a: string, b: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(last, j) + 1,
          at(row, j - 1) + 1,
          at(last, j - 1) + (isSame ? 0 : 1),
          isSwapped ? at(beforeLast, j - 2) + 1 : Infinity,
        ),
      );
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
