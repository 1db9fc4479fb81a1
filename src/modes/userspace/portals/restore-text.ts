import { CHAINS, type ChainName, TABLES, type TableName } from '../names.ts';
import type { PortalRule } from '../render.ts';
import { type Jump, jumpLine } from './jumps.ts';

/** Restore input that creates our chains, or empties them if they exist, and adds the jumps and rules. */
export function fullText(rules: readonly PortalRule[], jumps: readonly Jump[]): string {
  return TABLES.map(table =>
    tableText(table, [
      ...CHAINS[table].map(chainLine),
      ...jumps.filter(jump => jump.table === table).map(jumpLine),
      ...rulesIn(table, rules).map(rule => ruleLine('-A', rule)),
    ]),
  ).join('');
}

/** Empty if there are no lines. */
export function tableText(table: TableName, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `*${table}\n${lines.join('\n')}\nCOMMIT\n`;
}

/** Creates the chain, or empties it. */
export function chainLine(chain: ChainName): string {
  return `:${chain} - [0:0]`;
}

export function ruleLine(verb: '-A' | '-D', { chain, text }: PortalRule): string {
  return `${verb} ${chain} ${text}`;
}

export function rulesIn(table: TableName, rules: readonly PortalRule[]): readonly PortalRule[] {
  const chains: readonly ChainName[] = CHAINS[table];
  return rules.filter(({ chain }) => chains.includes(chain));
}
