import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { withoutUndefined } from './names.ts';
import { type NatFlag, natFlagBits, natFlagsOf } from './nat-flags.ts';
import { printRegister, type Register } from './registers.ts';

/** Changes the destination address to this machine. */
export interface Redirect {
  readonly kind: 'redirect';
  readonly protoMin?: Register;
  readonly protoMax?: Register;
  readonly flags?: readonly NatFlag[];
}

const PROTO_MIN = 1;
const PROTO_MAX = 2;
const FLAGS = 3;

export const redirect: Codec<Redirect> = {
  name: 'redir',
  highest: FLAGS,

  encode(writer, { flags, protoMin, protoMax }) {
    if (protoMin !== undefined) writer.u32BE(PROTO_MIN, protoMin);
    if (protoMax !== undefined) writer.u32BE(PROTO_MAX, protoMax);
    const bits = natFlagBits(flags, protoMin !== undefined);
    if (bits) writer.u32BE(FLAGS, bits);
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
    return { kind: 'redirect', ...rest };
  },

  print({ flags, protoMin, protoMax }) {
    const parts = ['redir'];
    if (protoMin !== undefined) parts.push(`proto_min ${printRegister(protoMin)}`);
    if (protoMax !== undefined) parts.push(`proto_max ${printRegister(protoMax)}`);
    const bits = natFlagBits(flags, protoMin !== undefined);
    if (bits) parts.push(`flags 0x${bits.toString(16)}`);
    return parts.join(' ');
  },
};
