import { sameList } from './same-list.ts';

/** Limits memory: a full table is emptied. */
const MAX_TEXTS = 1 << 16;

const texts = new Map<string, string>();

/**
 * One string for equal texts, to save memory for names that thousands of objects repeat (namespaces, port names, node
 * names). It is a copy: in V8 a part of a text keeps the whole text in memory, such as that of a file.
 */
export function intern(text: string): string {
  const known = texts.get(text);
  if (known !== undefined) return known;
  if (texts.size >= MAX_TEXTS) texts.clear();
  const copy = copyOf(text);
  texts.set(copy, copy);
  return copy;
}

function copyOf(text: string): string {
  return `${JSON.parse(JSON.stringify(text))}`;
}

const MAX_LISTS = 1 << 12;

const lists = new Map<string, readonly string[]>();

/** One list for equal lists of texts. Callers must not change their list afterwards. */
export function internList(list: readonly string[]): readonly string[] {
  const key = list.join('\0');
  const known = lists.get(key);
  if (known !== undefined && sameList(known, list)) return known;
  if (lists.size >= MAX_LISTS) lists.clear();
  lists.set(key, list);
  return list;
}
