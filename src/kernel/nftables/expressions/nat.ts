import { asU32BE } from '../../netlink/index.ts';
import { familyFromNumber, familyNumbers, type NftFamily } from '../family.ts';
import type { Codec } from './codec.ts';
import { names, withoutUndefined } from './names.ts';
import { type NatFlag, natFlagBits, natFlagsOf } from './nat-flags.ts';
import { printRegister, type Register } from './registers.ts';

/**
 * Changes the source or the destination to the address and port in registers. With a minimum and a maximum, the kernel
 * chooses a value between the two.
 */
export interface Nat {
  readonly kind: 'nat';
  readonly type: 'snat' | 'dnat';
  readonly family: NftFamily;
  readonly addrMin?: Register;
  readonly addrMax?: Register;
  readonly protoMin?: Register;
  readonly protoMax?: Register;
  readonly flags?: readonly NatFlag[];
}

const TYPE = 1;
const FAMILY = 2;
const ADDR_MIN = 3;
const ADDR_MAX = 4;
const PROTO_MIN = 5;
const PROTO_MAX = 6;
const FLAGS = 7;

const types = names({ snat: 0, dnat: 1 });

export const nat: Codec<Nat> = {
  name: 'nat',
  highest: FLAGS,

  encode(writer, expression) {
    const { addrMin, addrMax, protoMin, protoMax } = expression;
    writer.u32BE(TYPE, types.number(expression.type)).u32BE(FAMILY, familyNumbers[expression.family]);
    if (addrMin !== undefined) writer.u32BE(ADDR_MIN, addrMin);
    if (addrMax !== undefined) writer.u32BE(ADDR_MAX, addrMax);
    if (protoMin !== undefined) writer.u32BE(PROTO_MIN, protoMin);
    if (protoMax !== undefined) writer.u32BE(PROTO_MAX, protoMax);
    const bits = flagBits(expression);
    if (bits) writer.u32BE(FLAGS, bits);
  },

  decode(attributes) {
    const type = types.name(asU32BE(attributes.get(TYPE)));
    const family = familyFromNumber(asU32BE(attributes.get(FAMILY)) ?? 0);
    const flags = natFlagsOf(asU32BE(attributes.get(FLAGS)) ?? 0);
    if (!type || !family || !flags) return undefined;
    const addrMin = asU32BE(attributes.get(ADDR_MIN));
    const addrMax = asU32BE(attributes.get(ADDR_MAX));
    const protoMin = asU32BE(attributes.get(PROTO_MIN));
    const protoMax = asU32BE(attributes.get(PROTO_MAX));
    const rest = withoutUndefined({
      addrMin,
      // If the rule has no maximum, the kernel lists the minimum.
      addrMax: addrMax === addrMin ? undefined : addrMax,
      protoMin,
      protoMax: protoMax === protoMin ? undefined : protoMax,
      flags: flags.length > 0 ? flags : undefined,
    });
    return { kind: 'nat', type, family, ...rest };
  },

  print(expression) {
    const { type, family, addrMin, addrMax, protoMin, protoMax } = expression;
    const parts = [`nat ${type} ${family}`];
    if (addrMin !== undefined) parts.push(`addr_min ${printRegister(addrMin)}`);
    if (addrMax !== undefined) parts.push(`addr_max ${printRegister(addrMax)}`);
    if (protoMin !== undefined) parts.push(`proto_min ${printRegister(protoMin)}`);
    if (protoMax !== undefined) parts.push(`proto_max ${printRegister(protoMax)}`);
    const bits = flagBits(expression);
    if (bits) parts.push(`flags 0x${bits.toString(16)}`);
    return parts.join(' ');
  },
};

function flagBits({ flags, protoMin }: Nat): number {
  return natFlagBits(flags, protoMin !== undefined);
}
