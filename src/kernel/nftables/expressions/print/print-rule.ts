import type { NftFamily } from '../../family.ts';
import type { Expression } from '../expression.ts';
import { printExpression } from '../expressions.ts';
import { applyLoad } from './load.ts';
import { pushCmp, pushRange } from './match.ts';
import { type AnonymousSets, lineOf, type PrintState, pushStatement, startPrinting } from './print-state.ts';
import { clearAllRegisters } from './register-contents.ts';
import { pushLookup } from './set-text.ts';
import { statementText } from './statement-text.ts';

/**
 * A rule in nft's syntax, as `nft list ruleset` 1.0.6 prints it. Expressions that cannot be written in this syntax are
 * printed in the notation of `nft --debug=netlink`.
 */
export function printRule(
  family: NftFamily,
  expressions: readonly Expression[],
  anonymousSets: AnonymousSets = () => undefined,
): string {
  const state = startPrinting(family, anonymousSets);
  for (let at = 0; at < expressions.length; at++) {
    const [expression, next] = [expressions[at], expressions[at + 1]];
    if (expression && next && pushPair(state, expression, next)) at++;
    else if (expression && !pushExpression(state, expression)) pushStatement(state, printExpression(expression));
  }
  return lineOf(state);
}

/** Adds a range if two comparisons mean one: nft writes `10-20` as `>= 10` and `<= 20`. */
function pushPair(state: PrintState, first: Expression, second: Expression): boolean {
  if (first.kind !== 'cmp' || second.kind !== 'cmp' || first.sreg !== second.sreg) return false;
  if (first.op !== 'gte' || second.op !== 'lte') return false;
  return pushRange(state, { sreg: first.sreg, op: 'eq', from: first.data, to: second.data });
}

/** Stores what an expression loads, or adds its text. Returns false if it cannot be written in nft's syntax. */
function pushExpression(state: PrintState, expression: Expression): boolean {
  switch (expression.kind) {
    case 'cmp':
      return pushCmp(state, expression);
    case 'range':
      return pushRange(state, expression);
    case 'lookup':
      return pushLookup(state, expression);
    case 'payload':
    case 'meta':
    case 'ct':
    case 'fib':
    case 'socket':
    case 'numgen':
    case 'symhash':
    case 'jhash':
    case 'immediate':
    case 'bitwise':
    case 'shift':
    case 'byteorder':
      return applyLoad(state, expression);
    case 'unknown':
      clearAllRegisters(state.registers);
      return false;
    default: {
      const text = statementText(state, expression);
      if (text !== undefined) pushStatement(state, text);
      return text !== undefined;
    }
  }
}
