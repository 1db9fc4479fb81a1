/** One thing was added, updated or removed. Every folder, from the informer to the modes, uses these words. */
export type Change<T> =
  | { readonly type: 'added'; readonly to: T }
  | { readonly type: 'updated'; readonly from: T; readonly to: T }
  | { readonly type: 'removed'; readonly from: T };

/** All changes between two states. */
export interface Diff<T> {
  readonly added: readonly T[];
  readonly updated: readonly { readonly from: T; readonly to: T }[];
  readonly removed: readonly T[];
}

/** The change between two versions of a thing; undefined if neither exists. Does not compare the versions. */
export function changeBetween<T>(from: T | undefined, to: T | undefined): Change<T> | undefined {
  if (from === undefined) return to === undefined ? undefined : { type: 'added', to };
  return to === undefined ? { type: 'removed', from } : { type: 'updated', from, to };
}

/** The newest version of the thing that changed. For a removed thing, that is its last version. */
export function latestOf<T>(change: Change<T>): T {
  return change.type === 'removed' ? change.from : change.to;
}
