import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { names } from './names.ts';
import { printRegister, type Register } from './registers.ts';

/**
 * Swaps the byte order of `len` bytes, in pieces of `size` bytes. Rules need it because `cmp` and `range` compare in
 * network byte order.
 */
export interface Byteorder {
  readonly kind: 'byteorder';
  readonly op: 'ntoh' | 'hton';
  readonly sreg: Register;
  readonly dreg: Register;
  readonly len: number;
  readonly size: number;
}

const SREG = 1;
const DREG = 2;
const OP = 3;
const LEN = 4;
const SIZE = 5;

const ops = names({ ntoh: 0, hton: 1 });

export const byteorder: Codec<Byteorder> = {
  name: 'byteorder',
  highest: SIZE,

  encode(writer, { sreg, dreg, op, len, size }) {
    writer.u32BE(SREG, sreg).u32BE(DREG, dreg).u32BE(OP, ops.number(op)).u32BE(LEN, len).u32BE(SIZE, size);
  },

  decode(attributes) {
    const sreg = asU32BE(attributes.get(SREG));
    const dreg = asU32BE(attributes.get(DREG));
    const op = ops.name(asU32BE(attributes.get(OP)));
    const len = asU32BE(attributes.get(LEN));
    const size = asU32BE(attributes.get(SIZE));
    if (sreg === undefined || dreg === undefined || !op || len === undefined || size === undefined) return undefined;
    return { kind: 'byteorder', op, sreg, dreg, len, size };
  },

  print({ op, sreg, dreg, len, size }) {
    return `byteorder ${printRegister(dreg)} = ${op}(${printRegister(sreg)}, ${len}, ${size})`;
  },
};
