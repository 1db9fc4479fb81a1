/** The order of keys in a file that kube-proxy writes: letters after all other characters, digits by their number. */
export function compareKeys(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  const at = left.findIndex((character, index) => character !== right[index]);
  const [x, y] = [left[at], right[at]];
  if (x === undefined || y === undefined) return left.length - right.length;
  const [xIsLetter, yIsLetter] = [isLetter(x), isLetter(y)];
  if (xIsLetter && yIsLetter) return order(x, y);
  if (xIsLetter || yIsLetter) return xIsLetter ? 1 : -1;
  return numberAt(left, at) - numberAt(right, at) || order(x, y);
}

function isLetter(character: string): boolean {
  return /\p{L}/u.test(character);
}

function order(x: string, y: string): number {
  return (x.codePointAt(0) ?? 0) - (y.codePointAt(0) ?? 0);
}

/** The number at this position, with the digits before it that belong to the same number. */
function numberAt(characters: readonly string[], at: number): number {
  const head = /[1-9][0-9]*$/.exec(characters.slice(0, at).join(''))?.[0] ?? '';
  const tail = /^[0-9]*/.exec(characters.slice(at).join(''))?.[0] ?? '';
  return Number(`${head}${tail}`);
}
