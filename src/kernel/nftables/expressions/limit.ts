import { asU32BE, asU64BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { names, withoutUndefined } from './names.ts';

const UNITS = { second: 1, minute: 60, hour: 3600, day: 86400, week: 604800 } as const;

export type LimitUnit = keyof typeof UNITS;

/** Ends the rule for packets that exceed a rate. With `over`, ends it for packets that do not exceed the rate. */
export interface Limit {
  readonly kind: 'limit';
  readonly rate: bigint;
  readonly unit: LimitUnit;
  readonly burst?: number;
  readonly of: 'packets' | 'bytes';
  readonly over?: true;
}

const RATE = 1;
const UNIT = 2;
const BURST = 3;
const TYPE = 4;
const FLAGS = 5;
const PAD = 6;

const OVER = 0x1;

const units = names(UNITS);
const types = names({ packets: 0, bytes: 1 });

export const limit: Codec<Limit> = {
  name: 'limit',
  highest: PAD,

  encode(writer, { rate, unit, burst, of, over }) {
    writer.u64BE(RATE, rate).u64BE(UNIT, BigInt(units.number(unit)));
    if (burst !== undefined) writer.u32BE(BURST, burst);
    writer.u32BE(TYPE, types.number(of)).u32BE(FLAGS, over ? OVER : 0);
  },

  decode(attributes) {
    const rate = asU64BE(attributes.get(RATE));
    const seconds = asU64BE(attributes.get(UNIT));
    const unit = seconds === undefined ? undefined : units.name(Number(seconds));
    const of = types.name(asU32BE(attributes.get(TYPE)) ?? 0);
    const flags = asU32BE(attributes.get(FLAGS)) ?? 0;
    if (rate === undefined || !unit || !of || flags & ~OVER) return undefined;
    const rest = withoutUndefined({
      // If the rule has no burst, the kernel lists zero.
      burst: asU32BE(attributes.get(BURST)) || undefined,
      over: flags & OVER ? (true as const) : undefined,
    });
    return { kind: 'limit', rate, unit, of, ...rest };
  },

  print({ rate, unit, burst = 0, of, over }) {
    return `limit rate ${rate}/${unit} burst ${burst} type ${of} flags 0x${over ? 1 : 0}`;
  },
};
