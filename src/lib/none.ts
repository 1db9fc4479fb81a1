/** The empty list that all records share, to save memory. */
export const NONE: readonly never[] = Object.freeze([]);
