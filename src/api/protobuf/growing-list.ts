import { NONE } from '../field-reader.ts';

/** A list that is being built: none and one may be shared with other objects, more are its own. */
export type GrowingList<T> = typeof NONE | readonly [T] | T[];

/** An object that is being built. */
export type InWork<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? GrowingList<E> : T[K] };

export function appended<T>(list: GrowingList<T>, item: T): GrowingList<T> {
  if (isNone(list)) return [item];
  if (isOne(list)) return [list[0], item];
  list.push(item);
  return list;
}

/** A list that grew has room for more: a copy has none. */
export function complete<T>(list: GrowingList<T>): GrowingList<T> {
  return list.length > 2 ? list.slice() : list;
}

function isNone<T>(list: GrowingList<T>): list is typeof NONE {
  return list === NONE;
}

function isOne<T>(list: readonly [T] | T[]): list is readonly [T] {
  return list.length === 1;
}
