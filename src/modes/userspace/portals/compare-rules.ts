import { type SavedTables, splitRule } from '../../../kernel/iptables/index.ts';
import { appendTo } from '../../../lib/append-to.ts';
import { CHAINS, type ChainName, TABLES, type TableName } from '../names.ts';
import type { PortalRule } from '../render.ts';
import { jumpLine, missingJumps } from './jumps.ts';
import { chainLine, ruleLine, tableText } from './restore-text.ts';

/** A wanted rule. */
export interface ComparedRule extends PortalRule {
  /** As iptables-save would list it; undefined if the kernel cannot have it. */
  readonly listed: string | undefined;
}

/** Restore input that brings the present rules to the wanted ones; empty if nothing differs. */
export function differingText(wanted: readonly ComparedRule[], present: SavedTables): string {
  return TABLES.map(table => tableText(table, differingLines(table, wanted, present))).join('');
}

/** Each rule as iptables-save lists it in `saved`, which has these rules and no others in our chains. */
export function listedTexts(rules: readonly PortalRule[], saved: SavedTables): readonly string[] {
  const texts = new Map<PortalRule, string>();
  for (const table of TABLES) {
    for (const chain of CHAINS[table]) {
      const own = rules.filter(rule => rule.chain === chain);
      const listed = saved.get(table)?.get(chain)?.rules ?? [];
      if (own.length !== listed.length) throw new Error(`iptables-save lists ${listed.length} rules of ${own.length}`);
      for (const [i, rule] of own.entries()) texts.set(rule, listed[i]?.text ?? '');
    }
  }
  return rules.map(rule => texts.get(rule) ?? '');
}

function differingLines(table: TableName, wanted: readonly ComparedRule[], present: SavedTables): readonly string[] {
  const chains = CHAINS[table];
  const jumps = missingJumps(present).filter(jump => jump.table === table);
  return [
    ...chains.filter(chain => !present.get(table)?.has(chain)).map(chainLine),
    ...jumps.map(jumpLine),
    ...chains.flatMap(chain => {
      const rules = present.get(table)?.get(chain)?.rules ?? [];
      return chainLines(
        chain,
        wanted.filter(rule => rule.chain === chain),
        rules.map(({ text }) => text),
      );
    }),
  ];
}

/** Only the order of one service port's rules matters, so this compares the rules of one service port after another. */
function chainLines(chain: ChainName, wanted: readonly ComparedRule[], present: readonly string[]): readonly string[] {
  const wantedByPort = new Map<string, ComparedRule[]>();
  const presentByPort = new Map<string, string[]>();
  for (const rule of wanted) appendTo(wantedByPort, servicePortIn(rule.listed ?? rule.text), rule);
  for (const text of present) appendTo(presentByPort, servicePortIn(text), text);
  const lines: string[] = [];
  for (const port of new Set([...presentByPort.keys(), ...wantedByPort.keys()])) {
    const before = presentByPort.get(port) ?? [];
    const after = wantedByPort.get(port) ?? [];
    let same = 0;
    while (same < before.length && before[same] === after[same]?.listed) same++;
    for (const text of before.slice(same)) lines.push(ruleLine('-D', { chain, text }));
    for (const rule of after.slice(same)) lines.push(ruleLine('-A', rule));
  }
  return lines;
}

/**
 * The protocol and the comment of a rule, which identify the service port. A rule of another program may have neither.
 */
function servicePortIn(text: string): string {
  const words = splitRule(text);
  const after = (option: string) => (words.includes(option) ? words[words.indexOf(option) + 1] : '');
  return `${after('-p')} ${after('--comment')}`;
}
