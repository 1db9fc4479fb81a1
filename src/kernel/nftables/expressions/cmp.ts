import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { decodeData, encodeData, printWords } from './data.ts';
import { names } from './names.ts';
import { printRegister, type Register } from './registers.ts';

const OPS = { eq: 0, neq: 1, lt: 2, lte: 3, gt: 4, gte: 5 } as const;

export type CmpOp = keyof typeof OPS;

/** Ends the rule unless the comparison of the register's first bytes with the data is true. Compares byte by byte. */
export interface Cmp {
  readonly kind: 'cmp';
  readonly op: CmpOp;
  readonly sreg: Register;
  readonly data: Buffer;
}

const SREG = 1;
const OP = 2;
const DATA = 3;

const ops = names(OPS);

export const cmp: Codec<Cmp> = {
  name: 'cmp',
  highest: DATA,

  encode(writer, { sreg, op, data }) {
    writer.u32BE(SREG, sreg).u32BE(OP, ops.number(op));
    encodeData(writer, DATA, data);
  },

  decode(attributes) {
    const sreg = asU32BE(attributes.get(SREG));
    const op = ops.name(asU32BE(attributes.get(OP)));
    const data = decodeData(attributes.get(DATA));
    if (sreg === undefined || op === undefined || data === undefined) return undefined;
    return { kind: 'cmp', op, sreg, data };
  },

  print: ({ op, sreg, data }) => `cmp ${op} ${printRegister(sreg)} ${printWords(data)}`,
};
