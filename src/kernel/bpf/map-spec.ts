import type { Struct } from './struct.ts';

/**
 * Types of maps as in `linux/bpf.h`. A hash map takes memory as it fills. A preallocated one takes all of its memory at
 * once, and is written in half the time.
 */
export const MAP_TYPES = {
  hash: 1,
  'preallocated hash': 1,
  array: 2,
  'per-cpu array': 6,
  'lru hash': 9,
  'socket storage': 24,
} as const;
export type MapType = keyof typeof MAP_TYPES;

const Flag = { NO_PREALLOC: 1, MMAPABLE: 1 << 10 } as const;
export const MAP_FLAGS: Readonly<Record<MapType, number>> = {
  hash: Flag.NO_PREALLOC,
  'preallocated hash': 0,
  array: Flag.MMAPABLE,
  'per-cpu array': 0,
  'lru hash': 0,
  'socket storage': Flag.NO_PREALLOC,
};

export interface MapSpec {
  /** The kernel shows the first 15 characters. */
  readonly name: string;
  readonly type: MapType;
  readonly keyBytes: number;
  readonly valueBytes: number;
  /** The most entries. Socket storage has no such limit: 0. */
  readonly entries: number;
  /** The value's type. Socket storage needs it. */
  readonly value?: Struct | undefined;
}
