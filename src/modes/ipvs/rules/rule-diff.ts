import type { SavedChain, SavedTables } from '../../../kernel/iptables/index.ts';
import { sameList } from '../../../lib/same-list.ts';
import type { Family } from '../../../net/index.ts';
import { CHAINS, TABLES } from '../names.ts';
import { canonicalRule } from './canonical-rule.ts';
import { jumpRule, missingJumps } from './jumps.ts';
import { type RuleInput, rulesOf } from './rule-text.ts';

/** The text for iptables-restore that changes the mode's chains to the wanted rules. Empty if nothing differs. */
export function ruleDiffText(input: RuleInput, present: SavedTables): string {
  const wanted = rulesOf(input);
  const jumps = missingJumps(present);
  return TABLES.map(table => {
    const chains = present.get(table);
    const missing = CHAINS[table].filter(chain => !chains?.has(chain));
    const rules = CHAINS[table].flatMap(chain => {
      const own = wanted[table].filter(rule => rule.chain === chain).map(({ text }) => text);
      return chainDiff(chain, chains?.get(chain)?.rules ?? [], own, input.family);
    });
    const lines = [
      ...missing.map(chain => `:${chain} - [0:0]`),
      ...jumps.filter(jump => jump.table === table).map(jump => `-I ${jump.from} ${jumpRule(jump)}`),
      ...rules,
    ];
    return lines.length === 0 ? '' : `*${table}\n${lines.join('\n')}\nCOMMIT\n`;
  }).join('');
}

/** Deletes rules that are not wanted, and then inserts the missing ones at their places. */
function chainDiff(
  chain: string,
  present: SavedChain['rules'],
  wanted: readonly string[],
  family: Family,
): readonly string[] {
  const from = present.map(({ text }) => canonicalRule(text, family));
  const to = wanted.map(text => canonicalRule(text, family));
  if (sameList(from, to)) return [];
  const { left, right } = commonRules(from, to);
  const last = Math.max(-1, ...right);
  return [
    ...present.filter((_, index) => !left.has(index)).map(({ text }) => `-D ${chain} ${text}`),
    ...wanted.flatMap((text, index) => {
      if (right.has(index)) return [];
      return [index > last ? `-A ${chain} ${text}` : `-I ${chain} ${index + 1} ${text}`];
    }),
  ];
}

/** The indices of rules that both lists have in the same order, as many as possible. */
function commonRules(
  a: readonly string[],
  b: readonly string[],
): { readonly left: ReadonlySet<number>; readonly right: ReadonlySet<number> } {
  const left = new Set<number>();
  const right = new Set<number>();
  const lengths = commonLengths(a, b);
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      left.add(i++);
      right.add(j++);
    } else if (lengths(i + 1, j) >= lengths(i, j + 1)) i++;
    else j++;
  }
  return { left, right };
}

/** How many rules the rests of two lists have in common, from `i` and `j` on. */
function commonLengths(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const length = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const row = rows[i];
      if (row) row[j] = a[i] === b[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  return length;
}
