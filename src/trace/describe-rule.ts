import { type NftFamily, printElementOf, type TraceMessage, type TraceVerdict } from '../kernel/nftables/index.ts';
import { type IptablesTexts, isIptablesTable } from './iptables-texts.ts';
import { type MatchState, matchedElements } from './matched-elements.ts';
import { isReadable, type PlacedRule, type Ruleset } from './ruleset.ts';
import { servicesOfComment, servicesOfRule } from './service-names.ts';
import type { RuleStep } from './traced-packet.ts';
import { isReject, printMixedRule, xtComment } from './xt-expressions.ts';

export interface RuleSources {
  readonly ruleset: Ruleset;
  readonly iptables: IptablesTexts;
}

/** Describes one message. Returns undefined for the end of a chain, which is no step of its own. */
export async function describeRule(
  message: TraceMessage,
  state: MatchState,
  sources: RuleSources,
): Promise<RuleStep | undefined> {
  const { family, table, chain, handle, type, mark } = message;
  const verdict = verdictText(message.verdict);
  const common = { chain, handle, verdict, mark };
  const unknown = { position: undefined, elements: [], services: [], isReject: false };
  if (type === 'policy') return { ...common, ...unknown, kind: 'policy', text: `policy ${verdict}` };
  if (handle === undefined) return undefined;
  const placed = await sources.ruleset.rule(family, table, chain, handle);
  if (!placed || !isReadable(family)) {
    const gone = isReadable(family) ? ', which is gone' : '';
    return { ...common, ...unknown, kind: 'rule', text: `with handle ${handle}${gone}` };
  }
  const { position } = placed;
  const known = { ...common, position, kind: 'rule' } as const;
  const saved = isIptablesTable(family, table)
    ? await sources.iptables.rule(family, table, chain, position)
    : undefined;
  const described = describeNftRule(family, message, placed, state, sources.ruleset);
  return { ...known, ...described, ...(saved !== undefined && { text: saved }) };
}

function describeNftRule(
  family: NftFamily,
  { table, chain }: TraceMessage,
  { rule }: PlacedRule,
  state: MatchState,
  ruleset: Ruleset,
): Pick<RuleStep, 'text' | 'elements' | 'services' | 'isReject'> {
  const found = matchedElements(rule.expressions, state, name => ruleset.set(family, table, name));
  const named = found.filter(({ set }) => !set.flags?.includes('anonymous'));
  const comment = rule.comment === undefined ? '' : ` comment "${rule.comment}"`;
  const anonymousSet = (name: string) => ruleset.anonymousSet(family, table, name);
  return {
    text: printMixedRule(family, rule.expressions, anonymousSet) + comment,
    elements: named.map(({ set, element }) => `@${set.name} ${printElementOf(set, element, 'whole')}`),
    services: isIptablesTable(family, table)
      ? servicesOfComment(chain, rule.comment ?? xtComment(rule.expressions) ?? '')
      : servicesOfRule(table, chain, found),
    isReject: rule.expressions.some(isReject),
  };
}

function verdictText(verdict: TraceVerdict): string {
  return 'chain' in verdict ? `${verdict.kind} ${verdict.chain}` : verdict.kind;
}
