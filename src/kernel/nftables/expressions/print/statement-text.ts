import type { Expression } from '../expression.ts';
import type { ObjectReference } from '../objref.ts';
import type { PayloadWrite } from '../payload.ts';
import type { Register } from '../registers.ts';
import { printVerdict } from '../verdict.ts';
import { ctField, metaField, payloadField } from './field-operands.ts';
import type { Load } from './load.ts';
import { natText, portNatText } from './nat-text.ts';
import { type FieldOperand, printOperand } from './operand.ts';
import type { PrintState } from './print-state.ts';
import { operandIn } from './register-contents.ts';
import { rejectText } from './reject-text.ts';
import { dynsetText } from './set-text.ts';
import { connlimitText, counterText, limitText, logText, quotaText } from './stateful-text.ts';

/** Expressions that do something with the packet, its connection or a set. */
export type Statement = Exclude<Expression, Load | { kind: 'cmp' | 'range' | 'lookup' | 'unknown' }>;

/** The statement in nft's syntax. Undefined if it cannot be written in it. */
export function statementText(state: PrintState, statement: Statement): string | undefined {
  switch (statement.kind) {
    case 'verdict':
      return printVerdict(statement.verdict);
    case 'meta-set':
      return assignment(state, metaField(statement.key), statement.sreg);
    case 'ct-set':
      return assignment(state, ctField(statement.key, statement.dir), statement.sreg);
    case 'payload-write':
      return payloadAssignment(state, statement);
    case 'nat':
      return natText(state, statement);
    case 'masquerade':
    case 'redirect':
      return portNatText(state, statement);
    case 'reject':
      return rejectText(state, statement);
    case 'dynset':
      return dynsetText(state, statement);
    case 'objref':
      return objectText(statement);
    case 'counter':
      return counterText(statement);
    case 'limit':
      return limitText(statement);
    case 'quota':
      return quotaText(statement);
    case 'connlimit':
      return connlimitText(statement);
    case 'log':
      return logText(statement);
    case 'notrack':
      return 'notrack';
    // The definition of the map has the type of its objects, but the rule does not.
    case 'objref-map':
      return undefined;
  }
}

/** `meta mark set ct mark`. A constant is printed as a value of the target's type. */
function assignment(state: PrintState, { text, type, order }: FieldOperand, register: Register): string | undefined {
  const value = operandIn(state.registers, register);
  return value && `${text} set ${printOperand(value, type, order)}`;
}

/**
 * Only for a whole field: a rule changes a part of a field by loading, masking and writing back the bytes around it.
 */
function payloadAssignment(state: PrintState, { base, offset, len, sreg }: PayloadWrite): string | undefined {
  const field = payloadField(state, { kind: 'payload', base, offset, len, dreg: sreg });
  const value = operandIn(state.registers, sreg);
  if (field.size !== len || (value?.kind === 'field' && value.payload)) return undefined;
  return assignment(state, field, sreg);
}

/** `counter name "drops"`. */
function objectText({ type, name }: ObjectReference): string {
  return `${type} ${type.startsWith('ct ') ? 'set' : 'name'} "${name}"`;
}
