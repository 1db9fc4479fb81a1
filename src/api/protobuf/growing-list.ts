import { NONE } from '../../lib/none.ts';

/** A list that is being built. Lists of no item or one item may be shared, so that `append` copies them. */
export type GrowingList<T> = typeof NONE | readonly [T] | T[];

/** An object that is being built. Its lists are growing lists. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? GrowingList<E> : T[K] };

/** Returns the list with the item. It may be the same list. */
export function append<T>(list: GrowingList<T>, item: T): GrowingList<T> {
  if (isNone(list)) return [item];
  if (isOne(list)) return [list[0], item];
  list.push(item);
  return list;
}

/** Drops the spare room of a list that grew. */
export function finish<T>(list: GrowingList<T>): GrowingList<T> {
  return list.length > 2 ? list.slice() : list;
}

function isNone<T>(list: GrowingList<T>): list is typeof NONE {
  return list === NONE;
}

function isOne<T>(list: readonly [T] | T[]): list is readonly [T] {
  return list.length === 1;
}
