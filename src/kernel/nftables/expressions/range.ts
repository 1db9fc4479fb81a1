import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { decodeData, encodeData, printWords } from './data.ts';
import { names } from './names.ts';
import { printRegister, type Register } from './registers.ts';

/** Ends the rule unless the register's value is inside (eq) or outside (neq) a range. */
export interface Range {
  readonly kind: 'range';
  readonly op: 'eq' | 'neq';
  readonly sreg: Register;
  readonly from: Buffer;
  readonly to: Buffer;
}

const SREG = 1;
const OP = 2;
const FROM_DATA = 3;
const TO_DATA = 4;

const ops = names({ eq: 0, neq: 1 });

export const range: Codec<Range> = {
  name: 'range',
  highest: TO_DATA,

  encode(writer, { sreg, op, from, to }) {
    writer.u32BE(SREG, sreg).u32BE(OP, ops.number(op));
    encodeData(writer, FROM_DATA, from);
    encodeData(writer, TO_DATA, to);
  },

  decode(attributes) {
    const sreg = asU32BE(attributes.get(SREG));
    const op = ops.name(asU32BE(attributes.get(OP)));
    const from = decodeData(attributes.get(FROM_DATA));
    const to = decodeData(attributes.get(TO_DATA));
    if (sreg === undefined || op === undefined || !from || !to) return undefined;
    return { kind: 'range', op, sreg, from, to };
  },

  print: ({ op, sreg, from, to }) => `range ${op} ${printRegister(sreg)} ${printWords(from)} ${printWords(to)}`,
};
