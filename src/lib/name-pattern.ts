/** Which objects an operator means. */
export interface NamePattern {
  /** The pattern as `namespace/name`. */
  readonly text: string;
  /** The pattern means exactly one object. */
  readonly isExact: boolean;
  /** `key` is `namespace/name`. */
  matches(key: string): boolean;
}

/**
 * Reads `NAMESPACE/NAME`, `NAME` or a glob with `*` and `?`. A name without a namespace is in the namespace `default`. A
 * glob without a slash means the names of every namespace.
 */
export function parseNamePattern(text: string): NamePattern {
  const isExact = !/[*?]/.test(text);
  const full = text.includes('/') ? text : `${isExact ? 'default' : '*'}/${text}`;
  return { text: full, isExact, matches: isExact ? key => key === full : key => matchesGlob(full, key) };
}

/** The time is at most the product of both lengths. A regular expression with many stars can take much longer. */
function matchesGlob(glob: string, text: string): boolean {
  let [g, t] = [0, 0];
  /** The last star, and where in the text the part after it was tried. */
  let [star, tried] = [-1, 0];
  while (t < text.length) {
    if (glob[g] === '*') {
      star = g++;
      tried = t;
    } else if (g < glob.length && (glob[g] === text[t] || (glob[g] === '?' && text[t] !== '/'))) {
      g++;
      t++;
    } else if (star >= 0 && text[tried] !== '/') {
      g = star + 1;
      t = ++tried;
    } else return false;
  }
  while (glob[g] === '*') g++;
  return g === glob.length;
}
