import { refuse, type Type } from './type.ts';

export function text(name = 'string'): Type<string> {
  return {
    name,
    zero: '',
    read: (node, into, at) => (node.kind === 'string' ? node.text : refuse(node, name, into, at)),
    write: value => value,
  };
}

export const bool: Type<boolean> = {
  name: 'bool',
  zero: false,
  read: (node, into, at) => (node.kind === 'bool' ? node.value : refuse(node, 'bool', into, at)),
  write: value => value,
};

export const int32: Type<number> = integer('int32', -(2 ** 31), 2 ** 31 - 1);

export function uint32(name: string): Type<number> {
  return integer(name, 0, 2 ** 32 - 1);
}

export const float32: Type<number> = {
  name: 'float32',
  zero: 0,
  read(node, into, at) {
    if (node.kind !== 'number') return refuse(node, 'float32', into, at);
    const value = Math.fround(Number(node.text));
    return Number.isFinite(value) ? value : refuse(node, 'float32', into, at, `number ${node.text}`);
  },
  write: shortestDecimal,
};

function integer(name: string, min: number, max: number): Type<number> {
  return {
    name,
    zero: 0,
    read(node, into, at) {
      if (node.kind !== 'number') return refuse(node, name, into, at);
      // Go reads neither 5.0 nor 5e0 as an integer.
      const value = /^-?[0-9]+$/.test(node.text) ? Number(node.text) : Number.NaN;
      const fits = value >= min && value <= max && !(min === 0 && node.text.startsWith('-'));
      return fits ? value + 0 : refuse(node, name, into, at, `number ${node.text}`);
    },
    write: value => value,
  };
}

/**
 * Returns the decimal number with the fewest digits that has the same 32 bits. Without this, 0.1 would be written as
 * 0.10000000149011612.
 */
export function shortestDecimal(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return Number(value.toPrecision(9));
}
