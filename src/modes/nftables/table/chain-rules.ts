import { type Chain, type Expression, printRule, type Rule } from '../../../kernel/nftables/index.ts';
import type { Layout } from './layout.ts';

/** A chain with all its rules. */
export interface ChainRules {
  readonly chain: Chain;
  readonly rules: readonly Rule[];
}

export type RuleBody = readonly [expressions: readonly Expression[], comment?: string];

export function chainRules(name: string, ...bodies: readonly RuleBody[]): ChainRules {
  return baseChainRules({ kind: 'chain', name }, ...bodies);
}

export function baseChainRules(chain: Chain, ...bodies: readonly RuleBody[]): ChainRules {
  const rules = bodies.map(
    ([expressions, comment]): Rule => ({
      kind: 'rule',
      chain: chain.name,
      expressions,
      ...(comment === undefined ? {} : { comment }),
    }),
  );
  return { chain, rules };
}

/**
 * The rule as nft prints it. Rules are compared as texts, because the kernel may list an expression in another form.
 */
export function ruleText(layout: Layout, rule: Rule): string {
  const comment = rule.comment === undefined ? '' : ` comment "${rule.comment}"`;
  return printRule(layout.nft, rule.expressions) + comment;
}
