import { IptablesError } from '../../kernel/iptables/index.ts';
import type { PortalRules, Written } from './portal-rules.ts';
import type { PortalRule } from './render.ts';

export interface Accepted extends Written {
  /** Why service ports have no rules. */
  readonly refused: ReadonlyMap<string, IptablesError>;
}

type Change = readonly [id: string, rules: readonly PortalRule[]];

/** What refuses more than can be found out in this time refuses everything. */
const LONGEST_SEARCH_MS = 60_000;

/**
 * Writes the rules of these service ports. Those that are refused are found by halving: what is tried is written, for it is
 * wanted. Nobody is to blame if nothing can be written at all.
 */
export async function writeAccepted(rules: PortalRules, changes: ReadonlyMap<string, readonly PortalRule[]>) {
  const refused = new Map<string, IptablesError>();
  const written = { filter: 0, nat: 0 };
  const end = performance.now() + LONGEST_SEARCH_MS;
  const write = async (some: readonly Change[]) => {
    const { filter, nat } = (await rules.write(new Map(some))).rules;
    written.filter += filter;
    written.nat += nat;
  };
  const search = async (some: readonly Change[]): Promise<void> => {
    try {
      await write(some);
    } catch (error) {
      const isRefusal = error instanceof IptablesError && error.isAboutRules;
      const [first] = some;
      if (!first || !isRefusal || performance.now() > end) throw error;
      if (some.length === 1) {
        refused.set(first[0], error);
        return;
      }
      const middle = some.length >> 1;
      await search(some.slice(0, middle));
      await search(some.slice(middle));
    }
  };
  await search([...changes]);
  if (refused.size > 0) await write(Array.from(refused.keys(), id => [id, []]));
  return { rules: written, refused } satisfies Accepted;
}
