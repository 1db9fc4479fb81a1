import type { Cmp } from '../cmp.ts';
import { dropMatchesImpliedBy, fieldFrom } from './field-operands.ts';
import type { FieldOperand } from './operand.ts';
import type { PrintState } from './print-state.ts';
import { printValue, readNumber } from './value.ts';

/**
 * The texts of matches on neighbouring fields, such as `tcp sport 5 tcp dport 80`. nft joins them into one comparison.
 * Undefined if the comparison is about a single field.
 */
export function fieldMatches(
  state: PrintState,
  { payload, binary }: FieldOperand,
  { op, data }: Cmp,
): string[] | undefined {
  if (!payload || binary || op !== 'eq' || data.length !== payload.len) return undefined;
  const texts: string[] = [];
  for (let at = 0; at < payload.len; ) {
    const field = fieldFrom(state, payload, (payload.offset + at) * 8);
    if (!field || field.bits % 8 !== 0 || at + field.bits / 8 > payload.len) return undefined;
    const part = data.subarray(at, at + field.bits / 8);
    texts.push(`${field.text} ${printValue(field.type, part, 'network')}`);
    at += part.length;
  }
  if (texts.length < 2) return undefined;
  dropMatchesImpliedBy(state, payload);
  return texts;
}

/**
 * The text of a match on a field of some bits, such as `ip dscp cs1`. Undefined if the mask does not select a field.
 */
export function bitfieldMatch(
  state: PrintState,
  { payload, binary }: FieldOperand,
  { op, data }: Cmp,
): string[] | undefined {
  if (!payload || !binary || (op !== 'eq' && op !== 'neq') || binary.xor.some(byte => byte !== 0)) return undefined;
  const bits = Array.from(binary.mask, byte => byte.toString(2).padStart(8, '0')).join('');
  const field = fieldFrom(state, payload, payload.offset * 8 + bits.indexOf('1'));
  if (!field || !/^0*1+0*$/.test(bits) || bits.length !== payload.len * 8) return undefined;
  const trailing = bits.length - 1 - bits.lastIndexOf('1');
  if (field.bits !== bits.length - bits.indexOf('1') - trailing) return undefined;
  const value = Buffer.alloc(8);
  value.writeBigUInt64BE(BigInt.asUintN(64, readNumber(data, 'network') >> BigInt(trailing)));
  dropMatchesImpliedBy(state, payload);
  return [`${field.text} ${op === 'neq' ? '!= ' : ''}${printValue(field.type, value, 'network')}`];
}
