import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { names } from './names.ts';
import { printRegister, type Register } from './registers.ts';

/** Loads a number from `offset` to `offset + modulus - 1`: a random one, or the next one for each packet. */
export interface Numgen {
  readonly kind: 'numgen';
  readonly type: 'inc' | 'random';
  readonly modulus: number;
  readonly offset: number;
  readonly dreg: Register;
}

const DREG = 1;
const MODULUS = 2;
const TYPE = 3;
const OFFSET = 4;

const types = names({ inc: 0, random: 1 });

export const numgen: Codec<Numgen> = {
  name: 'numgen',
  highest: OFFSET,

  encode(writer, { dreg, modulus, type, offset }) {
    writer.u32BE(DREG, dreg).u32BE(MODULUS, modulus).u32BE(TYPE, types.number(type)).u32BE(OFFSET, offset);
  },

  decode(attributes) {
    const dreg = asU32BE(attributes.get(DREG));
    const modulus = asU32BE(attributes.get(MODULUS));
    const type = types.name(asU32BE(attributes.get(TYPE)));
    if (dreg === undefined || modulus === undefined || type === undefined) return undefined;
    return { kind: 'numgen', type, modulus, offset: asU32BE(attributes.get(OFFSET)) ?? 0, dreg };
  },

  print({ dreg, type, modulus, offset }) {
    return `numgen ${printRegister(dreg)} = ${type} mod ${modulus}${offset ? ` offset ${offset}` : ''}`;
  },
};
