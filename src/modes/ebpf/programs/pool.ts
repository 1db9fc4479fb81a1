import { bytesOf } from '../../../kernel/bpf/index.ts';
import { encoded, writeNumber } from './bytes.ts';
import { Pool } from './layout.ts';

/** The value of `pools`: a run of slots. */
export interface PoolValue {
  readonly first: number;
  readonly count: number;
}

export const POOL_BYTES = bytesOf(Pool);

export function encodePool(pool: PoolValue): Buffer {
  return encoded(POOL_BYTES, (into, at) => writePool(pool, into, at));
}

export function writePool({ first, count }: PoolValue, into: Uint8Array, at: number): void {
  writeNumber(into, at, Pool.first, first);
  writeNumber(into, at, Pool.count, count);
}

/** The whole value as one number, because one store must publish it: a program reads both fields at once. */
export function poolWord({ first, count }: PoolValue): bigint {
  return BigInt(first) | (BigInt(count) << 32n);
}

export function decodePool(bytes: Buffer): PoolValue {
  return { first: bytes.readUInt32LE(Pool.first.offset), count: bytes.readUInt32LE(Pool.count.offset) };
}
