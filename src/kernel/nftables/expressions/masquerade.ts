import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { withoutUndefined } from './names.ts';
import { type NatFlag, natFlagBits, natFlagsOf } from './nat-flags.ts';
import { printRegister, type Register } from './registers.ts';

/** Changes the source address to the address of the interface through which the packet leaves. */
export interface Masquerade {
  readonly kind: 'masquerade';
  readonly protoMin?: Register;
  readonly protoMax?: Register;
  readonly flags?: readonly NatFlag[];
}

const FLAGS = 1;
const PROTO_MIN = 2;
const PROTO_MAX = 3;

export const masquerade: Codec<Masquerade> = {
  name: 'masq',
  highest: PROTO_MAX,

  encode(writer, { flags, protoMin, protoMax }) {
    const bits = natFlagBits(flags, protoMin !== undefined);
    if (bits) writer.u32BE(FLAGS, bits);
    if (protoMin !== undefined) writer.u32BE(PROTO_MIN, protoMin);
    if (protoMax !== undefined) writer.u32BE(PROTO_MAX, protoMax);
  },

  decode(attributes) {
    const flags = natFlagsOf(asU32BE(attributes.get(FLAGS)) ?? 0);
    if (!flags) return undefined;
    const protoMin = asU32BE(attributes.get(PROTO_MIN));
    const protoMax = asU32BE(attributes.get(PROTO_MAX));
    const rest = withoutUndefined({
      protoMin,
      // If the rule has no maximum, the kernel lists the minimum.
      protoMax: protoMax === protoMin ? undefined : protoMax,
      flags: flags.length > 0 ? flags : undefined,
    });
    return { kind: 'masquerade', ...rest };
  },

  print({ flags, protoMin, protoMax }) {
    const parts = ['masq'];
    if (protoMin !== undefined) parts.push(`proto_min ${printRegister(protoMin)}`);
    if (protoMax !== undefined) parts.push(`proto_max ${printRegister(protoMax)}`);
    const bits = natFlagBits(flags, protoMin !== undefined);
    if (bits) parts.push(`flags 0x${bits.toString(16)}`);
    return parts.join(' ');
  },
};
