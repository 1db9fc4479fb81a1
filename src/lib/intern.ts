/** More different texts than this are no longer repeats worth keeping; the table then starts afresh. */
const MOST_TEXTS = 1 << 16;

const texts = new Map<string, string>();

/**
 * One string for equal texts, for names that thousands of objects repeat (namespaces, port names, node names). What is
 * kept is a copy: a piece cut out of a file's text would otherwise keep the whole file in memory.
 */
export function intern(text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (texts.size >= MOST_TEXTS) texts.clear();
  const copy = copyOf(text);
  texts.set(copy, copy);
  return copy;
}

function copyOf(text: string): string {
  return `${JSON.parse(JSON.stringify(text))}`;
}
