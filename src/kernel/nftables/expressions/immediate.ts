import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { decodeData, encodeData, printWords } from './data.ts';
import { printRegister, REG_VERDICT, type Register } from './registers.ts';
import { decodeVerdict, encodeVerdict, type Verdict } from './verdict.ts';

/** Loads a constant into a register. */
export interface Immediate {
  readonly kind: 'immediate';
  readonly dreg: Register;
  readonly data: Buffer;
}

/** Ends the rule with a verdict. */
export interface VerdictStatement {
  readonly kind: 'verdict';
  readonly verdict: Verdict;
}

const DREG = 1;
const DATA = 2;

export const immediate: Codec<Immediate | VerdictStatement> = {
  name: 'immediate',
  highest: DATA,

  encode(writer, expression) {
    if (expression.kind === 'verdict') {
      writer.u32BE(DREG, REG_VERDICT);
      encodeVerdict(writer, DATA, expression.verdict);
    } else {
      writer.u32BE(DREG, expression.dreg);
      encodeData(writer, DATA, expression.data);
    }
  },

  decode(attributes) {
    const dreg = asU32BE(attributes.get(DREG));
    const value = attributes.get(DATA);
    if (dreg === undefined || !value) return undefined;
    if (dreg === REG_VERDICT) {
      const verdict = decodeVerdict(value);
      return verdict && { kind: 'verdict', verdict };
    }
    const data = decodeData(value);
    return data && { kind: 'immediate', dreg, data };
  },

  print(expression) {
    if (expression.kind === 'immediate') {
      return `immediate ${printRegister(expression.dreg)} ${printWords(expression.data)}`;
    }
    const { verdict } = expression;
    const text = 'chain' in verdict ? `${verdict.kind} -> ${verdict.chain}` : verdict.kind;
    return `immediate ${printRegister(REG_VERDICT)} ${text}`;
  },
};
