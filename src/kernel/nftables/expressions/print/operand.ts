import type { Payload } from '../payload.ts';
import { isBitmask, type Order, printBits, printValue, readNumber, type ValueType } from './value.ts';

/** The content of a register, for printing. */
export type Operand =
  | {
      readonly kind: 'field';
      readonly text: string;
      /** How to print constants that the field is compared or combined with. */
      readonly type: ValueType;
      /** The bytes of the whole value. The rule may have loaded fewer. */
      readonly size: number;
      readonly order: Order;
      /** The expression that loaded it, if it is part of the packet. */
      readonly payload?: Payload;
      /** A `& mask ^ xor` that is not yet part of the text. */
      readonly binary?: Binary;
    }
  | { readonly kind: 'constant'; readonly data: Buffer }
  /** The value from a map. Its type is known only where the rule uses it. */
  | { readonly kind: 'map'; readonly text: string };

export type FieldOperand = Extract<Operand, { kind: 'field' }>;

interface Binary {
  readonly mask: Buffer;
  readonly xor: Buffer;
}

/** The text of an operand where a rule needs a value. A constant is printed as a value of `type`. */
export function printOperand(operand: Operand, type: ValueType, order: Order): string {
  switch (operand.kind) {
    case 'constant':
      return printValue(type, operand.data, order);
    case 'map':
      return operand.text;
    case 'field':
      return operand.binary ? `${operand.text}${printBinary(operand, operand.binary)}` : operand.text;
  }
}

/**
 * The kernel only has `(value & mask) ^ xor`. Bits that the mask clears and the xor sets come from an `|`. Bits that
 * the mask keeps and the xor flips come from a `^`.
 */
function printBinary({ type, order }: FieldOperand, { mask, xor }: Binary): string {
  const or = combine(xor, mask, (x, m) => x & ~m);
  const and = combine(mask, or, (m, o) => m | o);
  const flip = combine(xor, mask, (x, m) => x & m);
  let text = '';
  if (and.some(byte => byte !== 0xff)) text += ` & ${printConstant(type, and, order)}`;
  if (flip.some(byte => byte !== 0)) text += ` ^ ${printConstant(type, flip, order)}`;
  if (or.some(byte => byte !== 0)) text += ` | ${printConstant(type, or, order)}`;
  return text;
}

/** A constant next to an operator. Several bits are printed with `|` between them. */
export function printConstant(type: ValueType, data: Buffer, order: Order): string {
  if (!isBitmask(type)) return printValue(type, data, order);
  const bits = printBits(type, Number(readNumber(data, order)));
  return bits.includes(',') ? `(${bits.replaceAll(',', ' | ')})` : bits;
}

function combine(a: Buffer, b: Buffer, operator: (a: number, b: number) => number): Buffer {
  return Buffer.from(a.map((byte, at) => operator(byte, b[at] ?? 0)));
}
