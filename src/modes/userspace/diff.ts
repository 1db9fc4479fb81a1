import { sameList } from '../../lib/same-list.ts';
import { TABLES } from './names.ts';
import { ruleLine, rulesIn, tableText } from './portals/restore-text.ts';
import type { PortalRule } from './render.ts';

/** The rules of service ports, by the id of the service port. */
export type RulesByPort = ReadonlyMap<string, readonly PortalRule[]>;

const NO_RULES: readonly PortalRule[] = [];

/** The service ports whose wanted rules are not the committed ones. */
export function changedRules(committed: RulesByPort, wanted: RulesByPort): RulesByPort {
  return new Map([...wanted].filter(([id, rules]) => !sameRules(committed.get(id) ?? NO_RULES, rules)));
}

/**
 * Restore input that brings the rules of some service ports to what is wanted. The order of a service port's rules
 * matters, so if one of its rules changes, this adds all of them again.
 */
export function partialText(committed: RulesByPort, changed: RulesByPort): string {
  return TABLES.map(table => {
    const lines: string[] = [];
    for (const [id, rules] of changed) {
      const before = rulesIn(table, committed.get(id) ?? NO_RULES);
      const after = rulesIn(table, rules);
      if (sameRules(before, after)) continue;
      for (const rule of before) lines.push(ruleLine('-D', rule));
      for (const rule of after) lines.push(ruleLine('-A', rule));
    }
    return tableText(table, lines);
  }).join('');
}

function sameRules(a: readonly PortalRule[], b: readonly PortalRule[]): boolean {
  return sameList(a, b, (one, other) => one.chain === other.chain && one.text === other.text);
}
