import { asU32BE } from '../../netlink/index.ts';
import type { Attributes, Codec } from './codec.ts';
import { decodeData, encodeData, printWords } from './data.ts';
import { names } from './names.ts';
import { printRegister, type Register } from './registers.ts';

/** `dreg = (sreg & mask) ^ xor`. Every combination of and, or and xor with constants can be written like this. */
export interface Bitwise {
  readonly kind: 'bitwise';
  readonly sreg: Register;
  readonly dreg: Register;
  readonly mask: Buffer;
  readonly xor: Buffer;
}

/** `dreg = sreg << bits` or `>>`, of `len` bytes. */
export interface Shift {
  readonly kind: 'shift';
  readonly op: 'lshift' | 'rshift';
  readonly sreg: Register;
  readonly dreg: Register;
  readonly len: number;
  readonly bits: number;
}

const SREG = 1;
const DREG = 2;
const LEN = 3;
const MASK = 4;
const XOR = 5;
const OP = 6;
const DATA = 7;

const ops = names({ mask: 0, lshift: 1, rshift: 2 });

export const bitwise: Codec<Bitwise | Shift> = {
  name: 'bitwise',
  highest: DATA,

  encode(writer, expression) {
    const { kind, sreg, dreg } = expression;
    writer
      .u32BE(SREG, sreg)
      .u32BE(DREG, dreg)
      .u32BE(OP, ops.number(kind === 'bitwise' ? 'mask' : expression.op));
    if (kind === 'bitwise') {
      writer.u32BE(LEN, expression.mask.length);
      encodeData(writer, MASK, expression.mask);
      encodeData(writer, XOR, expression.xor);
    } else {
      const amount = Buffer.alloc(4);
      amount.writeUInt32LE(expression.bits);
      writer.u32BE(LEN, expression.len);
      encodeData(writer, DATA, amount);
    }
  },

  decode(attributes) {
    const sreg = asU32BE(attributes.get(SREG));
    const dreg = asU32BE(attributes.get(DREG));
    const len = asU32BE(attributes.get(LEN));
    // Kernels before 5.6 have only this operation and do not send its number.
    const op = ops.name(asU32BE(attributes.get(OP)) ?? 0);
    if (sreg === undefined || dreg === undefined || len === undefined || op === undefined) return undefined;
    return op === 'mask' ? decodeMask(attributes, sreg, dreg, len) : decodeShift(attributes, sreg, dreg, len, op);
  },

  print(expression) {
    const [to, from] = [printRegister(expression.dreg), printRegister(expression.sreg)];
    if (expression.kind === 'bitwise') {
      return `bitwise ${to} = ( ${from} & ${printWords(expression.mask)} ) ^ ${printWords(expression.xor)}`;
    }
    const sign = expression.op === 'lshift' ? '<<' : '>>';
    return `bitwise ${to} = ( ${from} ${sign} 0x${expression.bits.toString(16).padStart(8, '0')} )`;
  },
};

function decodeMask(attributes: Attributes, sreg: Register, dreg: Register, len: number): Bitwise | undefined {
  const mask = decodeData(attributes.get(MASK));
  const xor = decodeData(attributes.get(XOR));
  if (!mask || !xor || mask.length !== len || xor.length !== len) return undefined;
  return { kind: 'bitwise', sreg, dreg, mask, xor };
}

function decodeShift(
  attributes: Attributes,
  sreg: Register,
  dreg: Register,
  len: number,
  op: Shift['op'],
): Shift | undefined {
  const amount = decodeData(attributes.get(DATA));
  if (amount?.length !== 4) return undefined;
  return { kind: 'shift', op, sreg, dreg, len, bits: amount.readUInt32LE(0) };
}
