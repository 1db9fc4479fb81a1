/** The browser may forbid storage. The page then forgets, and works. */
export function readStored(kind: 'local' | 'session', key: string): string | undefined {
  try {
    return storage(kind).getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** An undefined value deletes. */
export function writeStored(kind: 'local' | 'session', key: string, value: string | undefined): void {
  try {
    if (value === undefined) storage(kind).removeItem(key);
    else storage(kind).setItem(key, value);
  } catch {
    // As above.
  }
}

function storage(kind: 'local' | 'session'): Storage {
  return kind === 'local' ? localStorage : sessionStorage;
}
