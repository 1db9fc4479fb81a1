import type { NftFamily } from '../../family.ts';
import type { Expression } from '../expression.ts';
import { printExpression } from '../expressions.ts';
import { forgetAll } from './held.ts';
import { load } from './load.ts';
import { pushCmp, pushRange } from './match.ts';
import { pushLookup } from './set-text.ts';
import { statementText } from './statement.ts';
import { type AnonymousSets, lineOf, pushStatement, startWalk, type Walk } from './walk.ts';

/**
 * A rule in nft's syntax, as `nft list ruleset` 1.0.6 prints it. Expressions that have no words are printed in their
 * place in the notation of `nft --debug=netlink`.
 */
export function printRule(
  family: NftFamily,
  expressions: readonly Expression[],
  anonymous: AnonymousSets = () => undefined,
): string {
  const walk = startWalk(family, anonymous);
  for (let at = 0; at < expressions.length; at++) {
    const [expression, next] = [expressions[at], expressions[at + 1]];
    if (expression && next && pushPair(walk, expression, next)) at++;
    else if (expression && !step(walk, expression)) pushStatement(walk, printExpression(expression));
  }
  return lineOf(walk);
}

/** A range inside is made of two comparisons. */
function pushPair(walk: Walk, first: Expression, second: Expression): boolean {
  if (first.kind !== 'cmp' || second.kind !== 'cmp' || first.sreg !== second.sreg) return false;
  if (first.op !== 'gte' || second.op !== 'lte') return false;
  return pushRange(walk, { sreg: first.sreg, op: 'eq', from: first.data, to: second.data });
}

/** One expression: what it loads is held, what it says is added. False if it has no words. */
function step(walk: Walk, expression: Expression): boolean {
  switch (expression.kind) {
    case 'cmp':
      return pushCmp(walk, expression);
    case 'range':
      return pushRange(walk, expression);
    case 'lookup':
      return pushLookup(walk, expression);
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
      return load(walk, expression);
    case 'unknown':
      forgetAll(walk.held);
      return false;
    default: {
      const text = statementText(walk, expression);
      if (text !== undefined) pushStatement(walk, text);
      return text !== undefined;
    }
  }
}
