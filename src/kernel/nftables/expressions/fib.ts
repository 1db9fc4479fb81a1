import { asU32BE } from '../../netlink/index.ts';
import type { Codec } from './codec.ts';
import { flagNames, names } from './names.ts';
import { printRegister, type Register } from './registers.ts';

/** The inputs of the route lookup, in nft's order. */
export type FibSelector = 'saddr' | 'daddr' | 'mark' | 'iif' | 'oif';
export type FibResult = 'oif' | 'oifname' | 'type';

/** Looks up an address in the routing tables. */
export interface Fib {
  readonly kind: 'fib';
  readonly selectors: readonly FibSelector[];
  readonly result: FibResult;
  /** Load whether there is a route, instead of the result. */
  readonly present?: true;
  readonly dreg: Register;
}

const DREG = 1;
const RESULT = 2;
const FLAGS = 3;

const PRESENT = 0x20;

const selectorFlags = flagNames({ saddr: 0x1, daddr: 0x2, mark: 0x4, iif: 0x8, oif: 0x10 });
const results = names({ oif: 1, oifname: 2, type: 3 });

export const fib: Codec<Fib> = {
  name: 'fib',
  highest: FLAGS,

  encode(writer, { selectors, result, present, dreg }) {
    writer.u32BE(FLAGS, selectorFlags.bits(selectors) | (present ? PRESENT : 0));
    writer.u32BE(RESULT, results.number(result)).u32BE(DREG, dreg);
  },

  decode(attributes) {
    const dreg = asU32BE(attributes.get(DREG));
    const result = results.name(asU32BE(attributes.get(RESULT)));
    const bits = asU32BE(attributes.get(FLAGS));
    if (dreg === undefined || result === undefined || bits === undefined) return undefined;
    const selectors = selectorFlags.flags(bits & ~PRESENT);
    return selectors && { kind: 'fib', selectors, result, ...(bits & PRESENT ? { present: true } : {}), dreg };
  },

  print({ selectors, result, present, dreg }) {
    return `fib ${selectors.join(' . ')} ${result}${present ? ' present' : ''} => ${printRegister(dreg)}`;
  },
};
