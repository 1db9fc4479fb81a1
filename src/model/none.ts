/** The empty list that all records share. */
export const NONE: readonly never[] = Object.freeze([]);
