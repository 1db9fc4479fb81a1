import type { Bitwise, Shift } from '../bitwise.ts';
import type { Byteorder } from '../byteorder.ts';
import type { Ct } from '../ct.ts';
import type { Fib } from '../fib.ts';
import type { Jhash, Symhash } from '../hash.ts';
import type { Immediate } from '../immediate.ts';
import type { Meta } from '../meta.ts';
import type { Numgen } from '../numgen.ts';
import type { Payload } from '../payload.ts';
import { wordsFor } from '../registers.ts';
import type { Socket } from '../socket.ts';
import { ctField, fibField, metaField, numberField, payloadField, socketField } from './field-operands.ts';
import { type Operand, printOperand } from './operand.ts';
import type { PrintState } from './print-state.ts';
import { clearRegister, operandIn, storeOperand } from './register-contents.ts';
import { keyText } from './set-text.ts';

/** Expressions that only write a register. */
export type Load =
  | Bitwise
  | Byteorder
  | Ct
  | Fib
  | Immediate
  | Jhash
  | Meta
  | Numgen
  | Payload
  | Shift
  | Socket
  | Symhash;

/** Stores what the expression loads. Returns false if that cannot be written in nft's syntax. */
export function applyLoad(state: PrintState, expression: Load): boolean {
  const operand = operandOf(state, expression);
  if (operand) storeOperand(state.registers, expression.dreg, operand, sizeOf(operand, expression));
  else clearRegister(state.registers, expression.dreg);
  return operand !== undefined;
}

function operandOf(state: PrintState, expression: Load): Operand | undefined {
  switch (expression.kind) {
    case 'payload':
      return payloadField(state, expression);
    case 'meta':
      return metaField(expression.key);
    case 'ct':
      return ctField(expression.key, expression.dir);
    case 'fib':
      return fibField(expression);
    case 'socket':
      return socketField(expression);
    case 'immediate':
      return { kind: 'constant', data: expression.data };
    case 'numgen':
      return numberField(`numgen ${expression.type} mod ${expression.modulus}${offsetText(expression)}`);
    case 'symhash':
      return numberField(`symhash mod ${expression.modulus}${offsetText(expression)}`);
    case 'jhash':
      return jhashField(state, expression);
    case 'bitwise':
      return maskOperand(state, expression);
    case 'shift':
      return shiftOperand(state, expression);
    case 'byteorder':
      return swapOperand(state, expression);
  }
}

function sizeOf(operand: Operand, expression: Load): number | undefined {
  if (expression.kind === 'payload') return expression.len;
  if (operand.kind === 'constant') return operand.data.length;
  return operand.kind === 'field' ? operand.size : undefined;
}

function offsetText({ offset }: { readonly offset: number }): string {
  return offset ? ` offset ${offset}` : '';
}

function jhashField(state: PrintState, jhash: Jhash): Operand | undefined {
  const key = keyText(state, jhash.sreg, wordsFor(jhash.len));
  const seed = jhash.seed === undefined ? '' : ` seed 0x${jhash.seed.toString(16)}`;
  return key === undefined ? undefined : numberField(`jhash ${key} mod ${jhash.modulus}${seed}${offsetText(jhash)}`);
}

/** The operator is not part of the text yet, because a comparison can print it as a prefix or as flags. */
function maskOperand(state: PrintState, { sreg, mask, xor }: Bitwise): Operand | undefined {
  const operand = operandIn(state.registers, sreg);
  return operand?.kind === 'field' && !operand.binary ? { ...operand, binary: { mask, xor } } : undefined;
}

function shiftOperand(state: PrintState, { sreg, op, bits }: Shift): Operand | undefined {
  const operand = operandIn(state.registers, sreg);
  if (operand?.kind !== 'field') return undefined;
  const { binary: _printed, ...plain } = operand;
  const text = printOperand(operand, operand.type, operand.order);
  return { ...plain, text: `${text} ${op === 'lshift' ? '<<' : '>>'} ${bits}` };
}

/** Changes only the byte order. A mask is in the old order, so it becomes part of the text before. */
function swapOperand(state: PrintState, { sreg, op }: Byteorder): Operand | undefined {
  const operand = operandIn(state.registers, sreg);
  if (operand?.kind !== 'field') return operand;
  const { binary: _printed, ...plain } = operand;
  const text = printOperand(operand, operand.type, operand.order);
  return { ...plain, text, order: op === 'hton' ? 'network' : 'host' };
}
