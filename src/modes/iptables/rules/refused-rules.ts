import { type Iptables, IptablesError } from '../../../kernel/iptables/index.ts';
import { searchDeadline, writeAccepted } from '../../refusal-search.ts';
import { TRIAL_CHAIN } from '../names.ts';
import { CHAINS_PER_RESTORE } from '../render.ts';
import { NAT_FIXED_CHAINS, natFixedRules } from './fixed-rules.ts';
import type { RenderInput } from './render-input.ts';
import { chainOfRule, RestoreText, type TableText } from './restore-text.ts';
import type { RuleOptions } from './rule-options.ts';
import { maxChains, ownChains } from './service-chains.ts';
import { allSharedRules } from './service-rules.ts';

type Candidate = readonly [id: string, input: RenderInput];

/** The service ports that have one of the lines which iptables-restore named. */
export function ownersOfLines(
  error: IptablesError,
  candidates: readonly Candidate[],
  options: RuleOptions,
): readonly string[] {
  const lines = new Set(error.lines.map(({ text }) => text));
  if (lines.size === 0) return [];
  const owns = ({ plan, withComments }: RenderInput) => {
    const { filter, nat } = allSharedRules(plan, options);
    const { chains, rules } = ownChains(plan, options, withComments);
    const declared = chains.map(chain => `:${chain} - [0:0]`);
    return [filter, nat, rules, declared].some(texts => texts.some(text => lines.has(text)));
  };
  return candidates.filter(([, input]) => owns(input)).map(([id]) => id);
}

/**
 * The service ports whose rules iptables-restore refuses, found by writing rules into a trial chain. None if it refuses
 * even an empty trial.
 */
export async function findRefused(
  iptables: Iptables,
  candidates: readonly Candidate[],
  options: RuleOptions,
): Promise<readonly string[]> {
  const attempt = async (some: readonly Candidate[]) => {
    try {
      await iptables.restore(trial(some, options));
      return undefined;
    } catch (error) {
      if (error instanceof IptablesError && error.isAboutRules) return error;
      throw error;
    }
  };
  if ((await attempt([])) !== undefined) return [];
  const refused: string[] = [];
  const refuse = ([id]: Candidate) => {
    refused.push(id);
    return [];
  };
  const deadline = searchDeadline();
  try {
    for (const part of parts(candidates)) await writeAccepted(part, { attempt, refuse }, deadline);
    return refused;
  } finally {
    await iptables.restore(withoutTrial());
  }
}

/** Each part is small enough for one restore. */
function* parts(candidates: readonly Candidate[]): Generator<readonly Candidate[]> {
  let first = 0;
  let chains = 0;
  for (const [i, [, { plan }]] of candidates.entries()) {
    chains += maxChains(plan);
    if (chains < CHAINS_PER_RESTORE) continue;
    yield candidates.slice(first, i + 1);
    first = i + 1;
    chains = 0;
  }
  yield candidates.slice(first);
}

function trial(some: readonly Candidate[], options: RuleOptions): RestoreText {
  const text = new RestoreText();
  const filter = text.table('filter');
  const nat = text.table('nat');
  filter.chain(TRIAL_CHAIN);
  nat.chain(TRIAL_CHAIN);
  nat.addChains(NAT_FIXED_CHAINS);
  nat.addRules(natFixedRules(options));
  for (const [, { plan, withComments }] of some) {
    const shared = allSharedRules(plan, options);
    const own = ownChains(plan, options, withComments);
    nat.addChains(own.chains);
    nat.addRules(own.rules);
    addToTrial(filter, shared.filter);
    addToTrial(nat, shared.nat);
  }
  return text;
}

function addToTrial(table: TableText, rules: readonly string[]): void {
  for (const rule of rules) table.rule(`-A ${TRIAL_CHAIN}${rule.slice('-A '.length + chainOfRule(rule).length)}`);
}

function withoutTrial(): RestoreText {
  const text = new RestoreText();
  for (const name of ['filter', 'nat'] as const) {
    text.table(name).chain(TRIAL_CHAIN);
    text.table(name).rule(`-X ${TRIAL_CHAIN}`);
  }
  return text;
}
