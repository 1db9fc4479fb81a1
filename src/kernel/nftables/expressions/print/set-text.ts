import type { Dynset } from '../dynset.ts';
import type { Expression } from '../expression.ts';
import type { Lookup } from '../lookup.ts';
import { REG_VERDICT, type Register, wordOf } from '../registers.ts';
import { printOperand } from './operand.ts';
import { type PrintState, pushMatch, pushStatement } from './print-state.ts';
import { clearRegister, keyOperands, storeOperand } from './register-contents.ts';
import { connlimitText, counterText, limitText, quotaText, timeoutText } from './stateful-text.ts';

/** Adds a lookup, or stores the value from a map. Returns false if the key cannot be written in nft's syntax. */
export function pushLookup(state: PrintState, lookup: Lookup): boolean {
  const key = keyText(state, lookup.sreg);
  if (key === undefined) {
    if (lookup.dreg !== undefined) clearRegister(state.registers, lookup.dreg);
    return false;
  }
  const set = setText(state, lookup.set);
  if (lookup.dreg === undefined) pushMatch(state, `${key} ${lookup.inverted ? '!= ' : ''}${set}`);
  else if (lookup.dreg === REG_VERDICT) pushStatement(state, `${key} vmap ${set}`);
  else storeOperand(state.registers, lookup.dreg, { kind: 'map', text: `${key} map ${set}` }, undefined);
  return true;
}

/** `update @affinity { ip saddr timeout 3h }`. */
export function dynsetText(state: PrintState, dynset: Dynset): string | undefined {
  const { op, set, sregKey, sregData, timeout, expressions = [] } = dynset;
  const between = sregData === undefined ? 0 : (wordOf(sregData) ?? 0) - (wordOf(sregKey) ?? 0);
  const key = keyText(state, sregKey, between > 0 ? between : undefined);
  const data = sregData === undefined ? undefined : keyText(state, sregData);
  if (key === undefined || (sregData !== undefined && data === undefined)) return undefined;
  const parts = [key];
  if (timeout !== undefined) parts.push(timeoutText(timeout));
  for (const expression of expressions) {
    const text = statefulText(expression);
    if (text === undefined) return undefined;
    parts.push(text);
  }
  if (data !== undefined) parts.push(`: ${data}`);
  return `${op} @${set} { ${parts.join(' ')} }`;
}

/** The key that begins in a register: `ip daddr . meta l4proto . th dport`. */
export function keyText(state: PrintState, register: Register, words?: number): string | undefined {
  const parts = keyOperands(state.registers, register, words);
  return parts.length > 0 ? parts.map(part => printOperand(part, 'hex', 'network')).join(' . ') : undefined;
}

/** `@services`, or the elements of an anonymous set. */
function setText(state: PrintState, set: string): string {
  return state.anonymousSets(set) ?? `@${set}`;
}

/** The text of a stateful expression that each element has. Undefined if elements cannot have it. */
function statefulText(expression: Expression): string | undefined {
  switch (expression.kind) {
    case 'counter':
      // The counter of a new element is zero, and nft does not print that.
      return expression.packets || expression.bytes ? counterText(expression) : 'counter';
    case 'limit':
      return limitText(expression);
    case 'quota':
      return quotaText(expression);
    case 'connlimit':
      return connlimitText(expression);
    default:
      return undefined;
  }
}
