import type { Cmp, CmpOp } from '../cmp.ts';
import type { Range } from '../range.ts';
import { bitfieldMatch, fieldMatches } from './bit-fields.ts';
import { type FieldOperand, printConstant, printOperand } from './operand.ts';
import { type PrintState, pushMatch } from './print-state.ts';
import { operandIn } from './register-contents.ts';
import { isBitmask, type Order, printPrefix, printValue, printWildcard, readNumber, type ValueType } from './value.ts';

const SIGNS: { readonly [K in CmpOp]: string } = { eq: '==', neq: '!=', lt: '<', lte: '<=', gt: '>', gte: '>=' };

/** Adds the text of a comparison. Returns false if the register's content cannot be written in nft's syntax. */
export function pushCmp(state: PrintState, cmp: Cmp): boolean {
  const operand = operandIn(state.registers, cmp.sreg);
  if (operand?.kind !== 'field') return false;
  const fields = fieldMatches(state, operand, cmp) ?? bitfieldMatch(state, operand, cmp);
  if (fields) {
    for (const text of fields) pushMatch(state, text);
    return true;
  }
  const layer = learnProtocol(state, operand, cmp);
  pushMatch(state, `${operand.text} ${operand.binary ? printMasked(operand, cmp) : printPlain(operand, cmp)}`, layer);
  return true;
}

/** Adds `10.0.0.1-10.0.0.9`, for a range expression or for two comparisons that mean a range. */
export function pushRange(state: PrintState, { sreg, op, from, to }: Omit<Range, 'kind'>): boolean {
  const operand = operandIn(state.registers, sreg);
  if (operand?.kind !== 'field') return false;
  const { order } = operand;
  // nft prints protocols in a range as numbers, because names have no order.
  const type = operand.type === 'inet_proto' ? 'integer' : operand.type;
  const text = printOperand(operand, type, order);
  const bounds = `${printValue(type, from, order)}-${printValue(type, to, order)}`;
  pushMatch(state, `${text} ${op === 'neq' ? '!= ' : ''}${bounds}`);
  return true;
}

/** Records the protocol that a match requires. Returns the layer whose fields imply this match. */
function learnProtocol(
  state: PrintState,
  operand: FieldOperand,
  { op, data }: Cmp,
): 'link' | 'network' | 'transport' | undefined {
  if (op !== 'eq' || operand.binary || data.length > 2) return undefined;
  const value = Number(readNumber(data, operand.order));
  switch (operand.text) {
    case 'meta l4proto':
    case 'ip protocol':
    case 'ip6 nexthdr':
      state.transport = value;
      return 'transport';
    case 'meta nfproto':
      return learnNetwork(state, value === 2, value === 10);
    case 'meta protocol':
      return learnNetwork(state, value === 0x0800, value === 0x86dd);
    case 'meta iiftype':
      return value === 1 ? 'link' : undefined;
    default:
      return undefined;
  }
}

function learnNetwork(state: PrintState, ip: boolean, ip6: boolean): 'network' | undefined {
  if (state.family !== 'inet' || (!ip && !ip6)) return undefined;
  state.network = ip ? 'ip' : 'ip6';
  return 'network';
}

function printPlain({ type, size, order }: FieldOperand, { op, data }: Cmp): string {
  const sign = op === 'eq' && !isBitmask(type) ? '' : `${SIGNS[op]} `;
  if (data.length >= size) return `${sign}${printValue(type, data, order)}`;
  // Data that are shorter than the value match its beginning: the prefix of an address, the first letters of a name.
  if (isAddress(type)) return `${sign}${printPrefix(type, data, data.length * 8)}`;
  if (type === 'string') return `${sign}${printWildcard(data)}`;
  return `${sign}${printValue(type, data, order)}`;
}

function printMasked(operand: FieldOperand, { op, data }: Cmp): string {
  const { type, order, binary } = operand;
  const mask = binary?.mask ?? data;
  const plain = binary?.xor.every(byte => byte === 0) && (op === 'eq' || op === 'neq');
  const prefix = prefixLength(mask);
  if (plain && isAddress(type) && prefix !== undefined && prefix <= operand.size * 8) {
    return `${op === 'neq' ? '!= ' : ''}${printPrefix(type, data, prefix)}`;
  }
  if (plain && isBitmask(type)) return printFlags(operand.type, mask, op === 'neq', data, order);
  const left = printOperand({ ...operand, text: '' }, type, order).trimStart();
  return `${left} ${SIGNS[op]} ${printConstant(type, data, order)}`.trimStart();
}

/**
 * `new,established` (one of these), `! new` (none of these), `syn / syn,ack` (of the second list exactly the first).
 */
function printFlags(type: ValueType, mask: Buffer, negated: boolean, data: Buffer, order: Order): string {
  const among = printValue(type, mask, order);
  if (data.every(byte => byte === 0)) return negated ? among : `! ${among}`;
  if (type === 'tcp_flag') return `${negated ? '!= ' : ''}${printValue(type, data, order)} / ${among}`;
  return `& ${printConstant(type, mask, order)} ${negated ? '!=' : '=='} ${printConstant(type, data, order)}`;
}

function isAddress(type: ValueType): type is 'ipv4_addr' | 'ipv6_addr' {
  return type === 'ipv4_addr' || type === 'ipv6_addr';
}

/** The length of the prefix that a mask selects. Undefined if the mask does not select a prefix. */
function prefixLength(mask: Buffer): number | undefined {
  const bits = Array.from(mask, byte => byte.toString(2).padStart(8, '0')).join('');
  return /^1*0*$/.test(bits) ? bits.lastIndexOf('1') + 1 : undefined;
}
