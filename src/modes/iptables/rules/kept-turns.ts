import { type ChainListing, type Iptables, IptablesError, listedRule } from '../../../kernel/iptables/index.ts';
import { Breaks } from '../../../lib/breaks.ts';
import { sameList } from '../../../lib/same-list.ts';
import { chainsOf } from '../names.ts';
import type { RenderInput } from './render-input.ts';
import { chainOfRule } from './restore-text.ts';
import type { RuleOptions } from './rule-options.ts';
import { ownChains } from './service-chains.ts';

/** A chain that counts turns, and its rules without `-A CHAIN`. */
interface TurnChain {
  readonly table: 'nat';
  readonly chain: string;
  readonly rules: readonly string[];
}

const NO_CHAINS: ReadonlySet<string> = new Set();
/** The longest time that the programs may take together. */
const MAX_MS = 10_000;

/**
 * The chains that count turns and already have exactly the wanted rules. A full write leaves them out, so that the turns
 * go on after a restart. Reads nothing if no Service takes turns.
 */
export async function keptTurns(
  iptables: Iptables,
  inputs: Iterable<RenderInput>,
  options: RuleOptions,
): Promise<ReadonlySet<string>> {
  if (!options.machine.keepsTurns) return NO_CHAINS;
  const breaks = new Breaks();
  const wanted: TurnChain[] = [];
  for (const input of inputs) {
    if (input.plan.balance?.algorithm !== 'round-robin') continue;
    wanted.push(...turnChains(input, options));
    if (breaks.isDue) await breaks.take();
  }
  if (wanted.length === 0) return NO_CHAINS;
  const present = (await listing(iptables, wanted))?.get('nat');
  const listed = (rules: readonly string[]) => rules.map(rule => listedRule(iptables.family, rule));
  const kept = new Set<string>();
  for (const { chain, rules } of wanted) {
    if (sameList(listed(rules), listed(present?.get(chain) ?? []))) kept.add(chain);
    if (breaks.isDue) await breaks.take();
  }
  return kept;
}

function turnChains({ plan, withComments }: RenderInput, options: RuleOptions): readonly TurnChain[] {
  const { svc, svl } = chainsOf(plan);
  const { chains, rules } = ownChains(plan, options, withComments);
  return chains
    .filter(chain => chain === svc || chain === svl)
    .map(chain => {
      const own = rules.filter(rule => chainOfRule(rule) === chain);
      return { table: 'nat', chain, rules: own.map(rule => rule.slice(`-A ${chain} `.length)) };
    });
}

/** Without a listing, the full write writes all chains. */
async function listing(iptables: Iptables, chains: readonly TurnChain[]): Promise<ChainListing | undefined> {
  try {
    return (await iptables.listChains(chains, () => true, MAX_MS)).listing;
  } catch (error) {
    if (error instanceof IptablesError) return undefined;
    throw error;
  }
}
