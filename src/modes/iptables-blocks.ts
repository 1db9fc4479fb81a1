import type { Family } from '../net/index.ts';
import type { ListedLine, ListedPart } from './listing.ts';
import type { DraftBlock } from './listing-order.ts';

/** The built-in chains that modes jump from, in the order in which packets meet them. */
const HOOKS = [
  { table: 'nat', chain: 'PREROUTING', priority: -100 },
  { table: 'filter', chain: 'INPUT', priority: 0 },
  { table: 'filter', chain: 'FORWARD', priority: 0 },
  { table: 'nat', chain: 'OUTPUT', priority: -100 },
  { table: 'filter', chain: 'OUTPUT', priority: 0 },
  { table: 'nat', chain: 'POSTROUTING', priority: 100 },
] as const;

/** A rule of a built-in chain that jumps to a chain of the mode. */
export interface ListedJump {
  readonly table: string;
  readonly from: string;
  /** What follows the name of the built-in chain. */
  readonly rule: string;
  /** The mode adds the rule at the end. By default it inserts the rule at the top, before those that it has inserted. */
  readonly isAppended?: boolean;
}

/** The built-in chains, with the jumps of the mode only. Other programs have rules there too. */
export function builtInBlocks(family: Family, jumps: readonly ListedJump[]): readonly DraftBlock[] {
  return HOOKS.flatMap(({ table, chain, priority }): DraftBlock[] => {
    const own = jumps.filter(jump => jump.table === table && jump.from === chain);
    if (own.length === 0) return [];
    const sorted = [...own.filter(jump => !jump.isAppended).reverse(), ...own.filter(jump => jump.isAppended)];
    const hook = chain.toLowerCase();
    return [
      {
        ...chainBlock(family, {
          table,
          chain,
          about: 'A chain of the kernel. Here stand only the rules that lead to chains of this proxy.',
          lines: sorted.map(({ rule }) => ruleLine(table, `-A ${chain} ${rule}`)),
        }),
        group: hook,
        head: `table ${table}, hook ${hook}, priority ${priority}`,
      },
    ];
  });
}

export interface ChainOfTable extends Pick<DraftBlock, 'about' | 'lines' | 'total' | 'servicePort'> {
  readonly table: string;
  readonly chain: string;
}

export function chainBlock(family: Family, { table, chain, ...block }: ChainOfTable): DraftBlock {
  const program = family === 'IPv4' ? 'iptables' : 'ip6tables';
  return {
    ...block,
    id: chainId(table, chain),
    kind: 'chain',
    name: chain,
    head: `table ${table}`,
    command: `${program} -t ${table} -S ${chain}`,
  };
}

/** `line`: as iptables-restore reads it, with `-A CHAIN`. `service`: `ns/name` of the Service that it belongs to. */
export function ruleLine(table: string, line: string, service?: string): ListedLine {
  return { parts: ruleParts(table, line), ...(service !== undefined && { service }) };
}

export function setId(name: string): string {
  return `set ${name}`;
}

/** The id of the block of a mode whose rules lead to listeners of this process. */
export const LISTENERS = 'listeners';

function chainId(table: string, chain: string): string {
  return `chain ${table} ${chain}`;
}

/** One word, or a quoted text. */
const WORD = /"(?:[^"\\]|\\.)*"|\S+/g;

/** What the word after an option names. Such a text is all that iptables has for a rule. */
function blockAfter(option: string, word: string, table: string): string | undefined {
  switch (option) {
    case '-j':
      return chainId(table, word);
    case '--match-set':
      return setId(word);
    case '--to-ports':
    case '--to-destination':
      return LISTENERS;
    default:
      return undefined;
  }
}

/** Names of chains and sets, and the ports of this process, are links. */
function ruleParts(table: string, line: string): readonly ListedPart[] {
  const parts: ListedPart[] = [];
  let end = 0;
  let before = '';
  for (const { 0: word, index } of line.matchAll(WORD)) {
    const block = blockAfter(before, word, table);
    before = word;
    if (block === undefined) continue;
    parts.push(line.slice(end, index), { text: word, block });
    end = index + word.length;
  }
  if (end < line.length) parts.push(line.slice(end));
  return parts;
}
