import { asU32BE } from '../../netlink/index.ts';
import type { Attributes, Codec } from './codec.ts';
import { withoutUndefined } from './names.ts';
import { printRegister, type Register } from './registers.ts';

/** Loads a hash of `len` bytes in registers. The result is from `offset` to `offset + modulus - 1`. */
export interface Jhash {
  readonly kind: 'jhash';
  readonly sreg: Register;
  readonly len: number;
  readonly modulus: number;
  readonly offset: number;
  /** By default the kernel chooses a seed when the rule is added, and does not list it. */
  readonly seed?: number;
  readonly dreg: Register;
}

/** Loads a hash of the packet's connection. It is the same for both directions. */
export interface Symhash {
  readonly kind: 'symhash';
  readonly modulus: number;
  readonly offset: number;
  readonly dreg: Register;
}

const SREG = 1;
const DREG = 2;
const LEN = 3;
const MODULUS = 4;
const SEED = 5;
const OFFSET = 6;
const TYPE = 7;

const JENKINS = 0;
const SYMMETRIC = 1;

export const hash: Codec<Jhash | Symhash> = {
  name: 'hash',
  highest: TYPE,

  encode(writer, expression) {
    if (expression.kind === 'jhash') writer.u32BE(SREG, expression.sreg);
    writer.u32BE(DREG, expression.dreg);
    if (expression.kind === 'jhash') writer.u32BE(LEN, expression.len);
    writer.u32BE(MODULUS, expression.modulus);
    if (expression.kind === 'jhash' && expression.seed !== undefined) writer.u32BE(SEED, expression.seed);
    writer.u32BE(OFFSET, expression.offset).u32BE(TYPE, expression.kind === 'jhash' ? JENKINS : SYMMETRIC);
  },

  decode(attributes) {
    const dreg = asU32BE(attributes.get(DREG));
    const modulus = asU32BE(attributes.get(MODULUS));
    const offset = asU32BE(attributes.get(OFFSET)) ?? 0;
    if (dreg === undefined || modulus === undefined) return undefined;
    switch (asU32BE(attributes.get(TYPE)) ?? JENKINS) {
      case JENKINS:
        return decodeJhash(attributes, modulus, offset, dreg);
      case SYMMETRIC:
        return { kind: 'symhash', modulus, offset, dreg };
      default:
        return undefined;
    }
  },

  print(expression) {
    const { dreg, modulus, offset } = expression;
    const input =
      expression.kind === 'jhash'
        ? `jhash(${printRegister(expression.sreg)}, ${expression.len}, 0x${(expression.seed ?? 0).toString(16)})`
        : 'symhash()';
    return `hash ${printRegister(dreg)} = ${input} % mod ${modulus}${offset ? ` offset ${offset}` : ''}`;
  },
};

function decodeJhash(attributes: Attributes, modulus: number, offset: number, dreg: Register): Jhash | undefined {
  const sreg = asU32BE(attributes.get(SREG));
  const len = asU32BE(attributes.get(LEN));
  const seed = asU32BE(attributes.get(SEED));
  if (sreg === undefined || len === undefined) return undefined;
  return { kind: 'jhash', sreg, len, modulus, offset, ...withoutUndefined({ seed }), dreg };
}
