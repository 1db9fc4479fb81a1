import type { SavedTables } from '../../kernel/iptables/index.ts';
import type { RulesByPort } from './diff.ts';
import { CHAINS, type ChainName, TABLES } from './names.ts';
import { missingJumps } from './portals/jumps.ts';

/** The rules of each of our chains, as iptables-save lists them. */
export type ChainListing = ReadonlyMap<ChainName, string>;

export function listingOf(saved: SavedTables): ChainListing {
  const listing = new Map<ChainName, string>();
  for (const table of TABLES) {
    for (const chain of CHAINS[table]) {
      const rules = saved.get(table)?.get(chain)?.rules;
      listing.set(chain, rules?.map(({ text }) => text).join('\n') ?? 'no chain');
    }
  }
  return listing;
}

/**
 * What another program changed, in words; undefined if it changed nothing. Each version of iptables-save lists rules in
 * its own words, so without an earlier listing this only counts the rules.
 */
export function describeDrift(
  saved: SavedTables,
  committed: RulesByPort,
  earlier: ChainListing | undefined,
): string | undefined {
  const [jump] = missingJumps(saved);
  if (jump) return `the jump from ${jump.from} to ${jump.to} is missing`;
  return earlier ? changedChain(earlier, listingOf(saved)) : wrongCount(saved, committed);
}

function changedChain(earlier: ChainListing, now: ChainListing): string | undefined {
  for (const [chain, text] of earlier) if (now.get(chain) !== text) return `chain ${chain} was changed`;
  return undefined;
}

function wrongCount(saved: SavedTables, committed: RulesByPort): string | undefined {
  const counts = new Map<ChainName, number>();
  for (const rules of committed.values()) {
    for (const { chain } of rules) counts.set(chain, (counts.get(chain) ?? 0) + 1);
  }
  for (const table of TABLES) {
    for (const chain of CHAINS[table]) {
      const found = saved.get(table)?.get(chain)?.rules.length;
      const wanted = counts.get(chain) ?? 0;
      if (found !== wanted) return `chain ${chain} has ${found ?? 'no'} rules instead of ${wanted}`;
    }
  }
  return undefined;
}
