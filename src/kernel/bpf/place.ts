import type { Field, Size } from './struct.ts';

export interface Register {
  readonly register: number;
}

export const r0: Register = { register: 0 };
export const r1: Register = { register: 1 };
export const r2: Register = { register: 2 };
export const r3: Register = { register: 3 };
export const r4: Register = { register: 4 };
export const r5: Register = { register: 5 };
export const r6: Register = { register: 6 };
export const r7: Register = { register: 7 };
export const r8: Register = { register: 8 };
export const r9: Register = { register: 9 };
/** The end of the stack frame. */
export const r10: Register = { register: 10 };

/** A number in memory: where a register points to, and an offset. */
export interface Place {
  readonly base: Register;
  readonly offset: number;
  readonly size: Size;
}

/** A field of what a register points to: `at(r6, SockAddr.port)`. */
export function at(base: Register, field: Field): Place {
  return { base, offset: field.offset, size: field.size };
}

/** One number of an array that begins at a place. */
export function nth(place: Place, index: number): Place {
  return { ...place, offset: place.offset + index * place.size };
}
