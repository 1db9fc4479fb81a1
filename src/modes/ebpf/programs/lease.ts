import { encoded } from './bytes.ts';

/** The value of `lease`: until when programs serve, in nanoseconds of the kernel's monotonic clock. */
export const LEASE_BYTES = 8;

export function encodeLease(until: bigint): Buffer {
  return encoded(LEASE_BYTES, (into, at) => into.writeBigUInt64LE(until, at));
}

export function decodeLease(bytes: Buffer): bigint {
  return bytes.readBigUInt64LE(0);
}
