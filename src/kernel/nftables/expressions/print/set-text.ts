import type { Dynset } from '../dynset.ts';
import type { Expression } from '../expression.ts';
import type { Lookup } from '../lookup.ts';
import { REG_VERDICT, type Register, wordOf } from '../registers.ts';
import { forget, hold, keyIn } from './held.ts';
import { printOperand } from './operand.ts';
import { connlimitText, counterText, limitText, quotaText, timeoutText } from './state.ts';
import { pushMatch, pushStatement, type Walk } from './walk.ts';

/** Adds a lookup, or holds what a map gives; false if the key has no words. */
export function pushLookup(walk: Walk, lookup: Lookup): boolean {
  const key = keyText(walk, lookup.sreg);
  if (key === undefined) {
    if (lookup.dreg !== undefined) forget(walk.held, lookup.dreg);
    return false;
  }
  const set = setText(walk, lookup.set);
  if (lookup.dreg === undefined) pushMatch(walk, `${key} ${lookup.inverted ? '!= ' : ''}${set}`);
  else if (lookup.dreg === REG_VERDICT) pushStatement(walk, `${key} vmap ${set}`);
  else hold(walk.held, lookup.dreg, { kind: 'map', text: `${key} map ${set}` }, undefined);
  return true;
}

/** `update @affinity { ip saddr timeout 3h }`. */
export function dynsetText(walk: Walk, dynset: Dynset): string | undefined {
  const { op, set, sregKey, sregData, timeout, expressions = [] } = dynset;
  const between = sregData === undefined ? 0 : (wordOf(sregData) ?? 0) - (wordOf(sregKey) ?? 0);
  const key = keyText(walk, sregKey, between > 0 ? between : undefined);
  const data = sregData === undefined ? undefined : keyText(walk, sregData);
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
export function keyText(walk: Walk, register: Register, words?: number): string | undefined {
  const parts = keyIn(walk.held, register, words);
  return parts.length > 0 ? parts.map(part => printOperand(part, 'hex', 'network')).join(' . ') : undefined;
}

/** `@services`, or the elements of an anonymous set. */
function setText(walk: Walk, set: string): string {
  return walk.anonymous(set) ?? `@${set}`;
}

/** Statements that an element can have of its own. */
function statefulText(expression: Expression): string | undefined {
  switch (expression.kind) {
    case 'counter':
      // An element's counter begins at nothing, which nft does not print.
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
