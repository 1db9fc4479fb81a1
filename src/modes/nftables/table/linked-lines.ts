import {
  type Element,
  type Expression,
  printData,
  printElementOf,
  type Rule,
  type SetOrMap,
} from '../../../kernel/nftables/index.ts';
import type { ListedPart } from '../../listing.ts';
import { linkNames, type Reference } from '../../listing-order.ts';
import { ruleText } from './chain-rules.ts';
import { fixedSets, type Layout } from './layout.ts';
import { isOwnMap } from './own-picks.ts';

/** A rule as nft prints it. The chains, maps and sets that its expressions use are links. */
export function ruleParts(layout: Layout, rule: Rule): readonly ListedPart[] {
  const references = rule.expressions.flatMap(expression => referencesOf(layout, expression));
  return linkNames(ruleText(layout, rule), references);
}

/** An element as nft prints it. The number of a chain leads to the map that has the chains. */
export function elementParts(layout: Layout, set: SetOrMap, element: Element): readonly ListedPart[] {
  const { targets, serviceNumbers, nodePortNumbers } = layout;
  const { data, verdict } = element;
  const isNumber = set === serviceNumbers || set === nodePortNumbers;
  const number =
    isNumber && data ? [{ before: ': ', name: printData(set.data, data), block: `map ${targets.name}` }] : [];
  return linkNames(printElementOf(set, element, 'whole'), [...number, ...toChain(verdict)]);
}

function referencesOf(layout: Layout, expression: Expression): readonly Reference[] {
  switch (expression.kind) {
    case 'lookup':
    case 'dynset': {
      const { set: name } = expression;
      const kind = fixedSets(layout).find(set => set.name === name)?.kind ?? (isOwnMap(name) ? 'map' : 'set');
      return [{ before: '@', name, block: `${kind} ${name}` }];
    }
    case 'verdict':
      return toChain(expression.verdict);
    default:
      return [];
  }
}

function toChain(verdict: Element['verdict']): readonly Reference[] {
  if (!verdict || !('chain' in verdict)) return [];
  const { kind, chain } = verdict;
  return [{ before: `${kind} `, name: chain, block: `chain ${chain}` }];
}
