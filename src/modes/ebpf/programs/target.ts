import { bytesOf } from '../../../kernel/bpf/index.ts';
import { encoded, writeNumber } from './bytes.ts';
import { Target, TargetFlag } from './layout.ts';

/** The value of `frontends4` and `frontends6`. */
export interface TargetValue {
  /** The index in `pools`. */
  readonly pool: number;
  /** A sum of `TargetFlag`. */
  readonly flags: number;
  /** Only with the flag `affinity`. */
  readonly affinitySeconds: number;
  /** The index in `counts`. */
  readonly counter: number;
  /** Names the pool in `affinity4` and `affinity6`, also after a restart. */
  readonly identity: bigint;
}

export type TargetFlagName = keyof typeof TargetFlag;

const FLAG_NAMES = Object.keys(TargetFlag) as readonly TargetFlagName[];

export const TARGET_BYTES = bytesOf(Target);

export function encodeTarget(target: TargetValue): Buffer {
  return encoded(TARGET_BYTES, (into, at) => writeTarget(target, into, at));
}

export function writeTarget(
  { pool, flags, affinitySeconds, counter, identity }: TargetValue,
  into: Buffer,
  at: number,
): void {
  writeNumber(into, at, Target.pool, pool);
  writeNumber(into, at, Target.flags, flags);
  writeNumber(into, at, Target.affinitySeconds, affinitySeconds);
  writeNumber(into, at, Target.counter, counter);
  // Most targets have none, and numbers of 64 bits are slow.
  if (identity === 0n) into.fill(0, at + Target.identity.offset, at + TARGET_BYTES);
  else into.writeBigUInt64LE(identity, at + Target.identity.offset);
}

export function decodeTarget(bytes: Buffer): TargetValue {
  return {
    pool: bytes.readUInt32LE(Target.pool.offset),
    flags: bytes.readUInt32LE(Target.flags.offset),
    affinitySeconds: bytes.readUInt32LE(Target.affinitySeconds.offset),
    counter: bytes.readUInt32LE(Target.counter.offset),
    identity: bytes.readBigUInt64LE(Target.identity.offset),
  };
}

/** The names of the flags: `affinity`, `nodeOnly`. */
export function flagNames(flags: number): readonly TargetFlagName[] {
  return FLAG_NAMES.filter(name => (flags & TargetFlag[name]) !== 0);
}
