/** How `writeAccepted` finds the items that the kernel refuses. */
export interface RefusalSearch<T, E> {
  /** Writes the items. Returns the error if the kernel refuses them; throws every other error. */
  attempt(items: readonly T[]): Promise<E | undefined>;
  /** The items that the error names. Without this, and if the error names none, the search halves. */
  named?(error: E, items: readonly T[]): readonly T[];
  /** Called for each item that the kernel refuses. Returns what is to be written in its place. */
  refuse(item: T, error: E): readonly T[];
}

/** If the search takes longer, the kernel refuses nearly everything, and no single item is the reason. */
const MAX_SEARCH_MS = 60_000;

/** When a search that begins now must end. */
export function searchDeadline(): number {
  return performance.now() + MAX_SEARCH_MS;
}

/**
 * Writes all items except those that the kernel refuses. It finds them by halving. Throws the kernel's error if the
 * search takes too long. Several calls that belong to one search have one deadline.
 */
export async function writeAccepted<T, E>(
  items: readonly T[],
  search: RefusalSearch<T, E>,
  deadline = searchDeadline(),
): Promise<void> {
  const write = async (some: readonly T[]): Promise<void> => {
    if (some.length === 0) return;
    const error = await search.attempt(some);
    if (error !== undefined) await separate(some, error);
  };
  const separate = async (some: readonly T[], error: E): Promise<void> => {
    if (performance.now() > deadline) throw error;
    const refused = some.length === 1 ? some : (search.named?.(error, some) ?? []);
    if (refused.length > 0) {
      const replacements = refused.flatMap(item => search.refuse(item, error));
      await write([...some.filter(item => !refused.includes(item)), ...replacements]);
      return;
    }
    const middle = some.length >> 1;
    await write(some.slice(0, middle));
    await write(some.slice(middle));
  };
  await write(items);
}

/** Some items cannot be prepared for the kernel: a fault of this program, which concerns these items only. */
export class PreparationError<T> extends Error {
  /** The error of each of these items alone. */
  readonly failed: ReadonlyMap<T, unknown>;

  constructor(failed: ReadonlyMap<T, unknown>) {
    super(`${failed.size} items cannot be prepared`);
    this.failed = failed;
  }
}

/**
 * An error that was thrown while all items were prepared. Prepares each item alone to find those that fail. Throws the
 * error if no item fails alone.
 */
export function preparationErrorOf<T>(
  error: unknown,
  items: Iterable<T>,
  prepare: (item: T) => unknown,
): PreparationError<T> {
  const failed = new Map<T, unknown>();
  for (const item of items) {
    try {
      prepare(item);
    } catch (own) {
      failed.set(item, own);
    }
  }
  if (failed.size === 0) throw error;
  return new PreparationError(failed);
}
