import type { ServicePortPlan } from '../../plan/index.ts';
import {
  filterChains,
  filterRulesAfter,
  filterRulesBefore,
  NAT_FIXED_CHAINS,
  natFixedRules,
  nodePortRules,
  SHARED_CHAINS,
} from './rules/fixed-rules.ts';
import { chainOfRule, RestoreText, type TableText } from './rules/restore-text.ts';
import type { RuleOptions } from './rules/rule-options.ts';
import { type OwnChains, ownChains } from './rules/service-chains.ts';
import { contestedRules, type SharedRules, sharedRules } from './rules/service-rules.ts';

/** iptables-nft needs minutes for one restore with very many chains, so a large one is split. */
export const CHAINS_PER_RESTORE = 1500;

export interface FullTextPart {
  readonly text: RestoreText;
  /** How many service ports this part and those before it complete. */
  readonly done: number;
}

const NO_CHAINS: ReadonlySet<string> = new Set();

/** All rules, in one restore, except those of the chains in `kept`, which the kernel already has. */
export function fullText(
  plans: Iterable<ServicePortPlan>,
  options: RuleOptions,
  withComments: boolean,
  kept = NO_CHAINS,
): RestoreText {
  const text = new RestoreText();
  const filter = text.table('filter');
  const nat = text.table('nat');
  filter.addChains(filterChains(options));
  filter.addRules(filterRulesBefore(options));
  nat.addChains(SHARED_CHAINS.nat);
  nat.addChains(NAT_FIXED_CHAINS);
  nat.addRules(natFixedRules(options));
  const contested: SharedRules[] = [];
  for (const plan of plans) {
    const shared = sharedRules(plan, options);
    filter.addRules(shared.filter);
    nat.addRules(shared.nat);
    addOwn(nat, ownChains(plan, options, withComments), kept);
    if (plan.conflicts.length > 0) contested.push(contestedRules(plan, options));
  }
  addContested(text, contested);
  filter.addRules(filterRulesAfter(options));
  nat.addRules(nodePortRules(options));
  return text;
}

/**
 * All rules, in several restores: first the chains of service ports, and in the last restore the shared chains that
 * jump to them. iptables-nft sorts the chains of a restore into a list, which takes minutes for all chains at once.
 */
export function* fullTextParts(
  plans: readonly ServicePortPlan[],
  options: RuleOptions,
  withComments: boolean,
  kept = NO_CHAINS,
): Generator<FullTextPart> {
  let part = new RestoreText();
  part.table('nat').addChains(NAT_FIXED_CHAINS);
  part.table('nat').addRules(natFixedRules(options));
  for (const [i, plan] of plans.entries()) {
    addOwn(part.table('nat'), ownChains(plan, options, withComments), kept);
    if (part.table('nat').chains.length < CHAINS_PER_RESTORE) continue;
    yield { text: part, done: i };
    part = new RestoreText();
  }
  if (!part.isEmpty) yield { text: part, done: plans.length - 1 };
  yield { text: sharedText(plans, options), done: plans.length };
}

function addOwn(nat: TableText, { chains, rules }: OwnChains, kept: ReadonlySet<string>): void {
  if (kept.size === 0) {
    nat.addChains(chains);
    nat.addRules(rules);
    return;
  }
  const written = rules.filter(rule => !kept.has(chainOfRule(rule)));
  nat.addChains(chains.filter(chain => !kept.has(chain)));
  nat.addRules(written);
  nat.kept += rules.length - written.length;
}

/** The chains that all service ports share, with all their rules. */
function sharedText(plans: readonly ServicePortPlan[], options: RuleOptions): RestoreText {
  const text = new RestoreText();
  const filter = text.table('filter');
  const nat = text.table('nat');
  filter.addChains(filterChains(options));
  filter.addRules(filterRulesBefore(options));
  nat.addChains(SHARED_CHAINS.nat);
  for (const plan of plans) {
    const shared = sharedRules(plan, options);
    filter.addRules(shared.filter);
    nat.addRules(shared.nat);
  }
  addContested(
    text,
    plans.map(plan => contestedRules(plan, options)),
  );
  filter.addRules(filterRulesAfter(options));
  nat.addRules(nodePortRules(options));
  return text;
}

function addContested(text: RestoreText, contested: readonly SharedRules[]): void {
  for (const { filter, nat } of contested) {
    text.table('filter').addRules(filter);
    text.table('nat').addRules(nat);
  }
}
