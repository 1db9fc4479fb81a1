import type { Payload } from '../payload.ts';
import { isBitmask, type Order, printBits, printValue, readNumber, type ValueType } from './value.ts';

/** What a register holds, in the words of a rule. */
export type Operand =
  | {
      readonly kind: 'field';
      readonly text: string;
      /** How constants that it is compared or combined with are written. */
      readonly type: ValueType;
      /** Bytes of a whole value; fewer may have been loaded. */
      readonly size: number;
      readonly order: Order;
      /** What was loaded, where it comes out of the packet. */
      readonly payload?: Payload;
      /** A `& mask ^ xor` that has not become part of the text. */
      readonly binary?: Binary;
    }
  | { readonly kind: 'constant'; readonly data: Buffer }
  /** What a map gave; its type is only known where it is used. */
  | { readonly kind: 'map'; readonly text: string };

export type FieldOperand = Extract<Operand, { kind: 'field' }>;

interface Binary {
  readonly mask: Buffer;
  readonly xor: Buffer;
}

/** The operand as it is written where a value is expected; a constant in the manner of `type`. */
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
 * The kernel only knows `(value & mask) ^ xor`. Bits that the mask clears and the xor sets were an `|`; bits that the
 * mask keeps and the xor turns were a `^`.
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

/** A constant next to an operator, where several bits are written with `|` between them. */
export function printConstant(type: ValueType, data: Buffer, order: Order): string {
  if (!isBitmask(type)) return printValue(type, data, order);
  const bits = printBits(type, Number(readNumber(data, order)));
  return bits.includes(',') ? `(${bits.replaceAll(',', ' | ')})` : bits;
}

function combine(a: Buffer, b: Buffer, of: (a: number, b: number) => number): Buffer {
  return Buffer.from(a.map((byte, at) => of(byte, b[at] ?? 0)));
}
