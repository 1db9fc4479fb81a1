import { type Iptables, IptablesError } from '../../kernel/iptables/index.ts';
import { NAT_FIXED_CHAINS, natFixedRules } from './fixed.ts';
import { CHAINS_A_PART } from './full-text.ts';
import { TRIAL_CHAIN } from './names.ts';
import { chainOfRule, RestoreText, type TableText } from './restore-text.ts';
import type { RuleOptions } from './rule-options.ts';
import { mostChains, ownChains } from './service-chains.ts';
import { allSharedRules } from './service-rules.ts';
import type { Written } from './written.ts';

/** What refuses more than can be found out in this time refuses everything. */
const LONGEST_SEARCH_MS = 60_000;

type Candidates = readonly (readonly [id: string, written: Written])[];

/** The service ports that have one of the lines which iptables-restore pointed at. */
export function ownersOf(error: IptablesError, candidates: Candidates, options: RuleOptions): readonly string[] {
  const lines = new Set(error.lines.map(({ text }) => text));
  if (lines.size === 0) return [];
  const owns = ({ plan, withComments }: Written) => {
    const { filter, nat } = allSharedRules(plan, options);
    const { chains, rules } = ownChains(plan, options, withComments);
    const declared = chains.map(chain => `:${chain} - [0:0]`);
    return [filter, nat, rules, declared].some(texts => texts.some(text => lines.has(text)));
  };
  return candidates.filter(([, written]) => owns(written)).map(([id]) => id);
}

/**
 * The service ports whose rules are refused, found by halving: what is tried is written, for it is wanted. Nobody is to
 * blame if nothing can be written at all, or hardly anything.
 */
export async function findRefused(
  error: IptablesError,
  iptables: Iptables,
  candidates: Candidates,
  options: RuleOptions,
): Promise<readonly string[]> {
  const works = async (some: Candidates) => {
    try {
      await iptables.restore(trial(some, options));
      return true;
    } catch (thrown) {
      if (thrown instanceof IptablesError && thrown.isAboutRules) return false;
      throw thrown;
    }
  };
  const end = performance.now() + LONGEST_SEARCH_MS;
  const search = async (some: Candidates): Promise<readonly string[]> => {
    if (performance.now() > end) throw error;
    if (some.length === 0 || (await works(some))) return [];
    const [only] = some;
    if (some.length === 1 && only) return [only[0]];
    const middle = some.length >> 1;
    return [...(await search(some.slice(0, middle))), ...(await search(some.slice(middle)))];
  };
  if (!(await works([]))) return [];
  try {
    const guilty: string[] = [];
    for (const part of parts(candidates)) guilty.push(...(await search(part)));
    return guilty;
  } finally {
    await iptables.restore(withoutTrial());
  }
}

/** Few enough for one restore. */
function* parts(candidates: Candidates): Generator<Candidates> {
  let first = 0;
  let chains = 0;
  for (const [i, [, { plan }]] of candidates.entries()) {
    chains += mostChains(plan);
    if (chains < CHAINS_A_PART) continue;
    yield candidates.slice(first, i + 1);
    first = i + 1;
    chains = 0;
  }
  yield candidates.slice(first);
}

function trial(some: Candidates, options: RuleOptions): RestoreText {
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
    tryRules(filter, shared.filter);
    tryRules(nat, shared.nat);
  }
  return text;
}

function tryRules(table: TableText, rules: readonly string[]): void {
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
