import type { ListedBlock, ListedLine, ListedPart } from '../../../../inspect/index.ts';

/** A line with its number in the whole listing. A filter does not change the number. */
export interface NumberedLine extends ListedLine {
  readonly number: number;
}

export interface ShownBlock extends Omit<ListedBlock, 'lines'> {
  readonly lines: readonly NumberedLine[];
  /** How many lines the filter hides. */
  readonly hidden: number;
  /** The Service has lines here, or the block belongs to it. */
  readonly isOfService: boolean;
}

/** Blocks that follow one another and have one heading. */
export interface ShownGroup {
  readonly name: string;
  readonly blocks: readonly ShownBlock[];
}

export interface Filter {
  /** Blocks and lines that have this text, whatever the case. Empty: all. */
  readonly text: string;
  /** Only blocks that packets to the Service meet. */
  readonly isWayOnly: boolean;
}

export function shownBlocks(blocks: readonly ListedBlock[], { text, isWayOnly }: Filter): readonly ShownBlock[] {
  const way = isWayOnly ? wayOfService(blocks) : undefined;
  const wanted = text.trim().toLowerCase();
  return numbered(blocks).flatMap(block => {
    if (way && !way.has(block.id)) return [];
    if (wanted === '' || nameOf(block).includes(wanted)) return [block];
    const lines = block.lines.filter(line => lineText(line).toLowerCase().includes(wanted));
    return lines.length === 0 ? [] : [{ ...block, lines, hidden: block.lines.length - lines.length }];
  });
}

/** So many blocks are drawn at once. A Service with thousands of endpoints has a chain for each of them in some modes. */
const PAGE_LENGTH = 150;

/** The first blocks, and as many more as the block that the address names needs. `pages` is at least 1. */
export function firstPages(
  blocks: readonly ShownBlock[],
  pages: number,
  current: string | undefined,
): readonly ShownBlock[] {
  const at = blocks.findIndex(({ id }) => id === current);
  return blocks.slice(0, PAGE_LENGTH * Math.max(pages, Math.ceil((at + 1) / PAGE_LENGTH)));
}

export function groupsOf(blocks: readonly ShownBlock[]): readonly ShownGroup[] {
  const groups = new Map<string, ShownBlock[]>();
  for (const block of blocks) {
    const known = groups.get(block.group);
    if (known) known.push(block);
    else groups.set(block.group, [block]);
  }
  return Array.from(groups, ([name, list]) => ({ name, blocks: list }));
}

/** What the whole block is as text, for the clipboard. */
export function blockText({ kind, name, head, lines }: Pick<ShownBlock, 'kind' | 'name' | 'head' | 'lines'>): string {
  const title = `# ${kind} ${name}${head === undefined ? '' : `: ${head}`}`;
  return `${[title, ...lines.map(lineText)].join('\n')}\n`;
}

export function lineText({ parts }: Pick<ListedLine, 'parts'>): string {
  return parts.map(partText).join('');
}

function partText(part: ListedPart): string {
  return typeof part === 'string' ? part : part.text;
}

function nameOf({ kind, name, servicePort = '' }: ListedBlock): string {
  return `${kind} ${name} ${servicePort}`.toLowerCase();
}

function numbered(blocks: readonly ListedBlock[]): readonly ShownBlock[] {
  let number = 0;
  return blocks.map(block => ({
    ...block,
    lines: block.lines.map(line => ({ ...line, number: ++number })),
    hidden: 0,
    isOfService: isOfService(block),
  }));
}

function isOfService({ servicePort, lines }: ListedBlock): boolean {
  return servicePort !== undefined || lines.some(({ service }) => service !== undefined);
}

/** The blocks that lead to lines of the Service, those that have them, and those that these lines lead to. */
function wayOfService(blocks: readonly ListedBlock[]): ReadonlySet<string> {
  const links = new Map(blocks.map(block => [block.id, new Set(block.lines.flatMap(linksOf))]));
  const own = blocks.filter(isOfService);
  const fromOwn = own.flatMap(({ lines }) => lines.filter(({ service }) => service !== undefined).flatMap(linksOf));
  const after = closure(fromOwn, id => links.get(id) ?? []);
  const leadingTo = new Map<string, string[]>();
  for (const [from, targets] of links)
    for (const to of targets) leadingTo.set(to, [...(leadingTo.get(to) ?? []), from]);
  const before = closure(
    own.map(({ id }) => id),
    id => leadingTo.get(id) ?? [],
  );
  return new Set([...before, ...after]);
}

function linksOf({ parts }: ListedLine): readonly string[] {
  return parts.flatMap(part => (typeof part === 'string' ? [] : [part.block]));
}

function closure(start: readonly string[], next: (id: string) => Iterable<string>): ReadonlySet<string> {
  const found = new Set(start);
  // A set also walks over what is added meanwhile.
  for (const id of found) for (const other of next(id)) found.add(other);
  return found;
}

/** `3 of 120 elements listed`, or `4 rules`. */
export function countText({ kind, lines, total, hidden }: ShownBlock): string {
  const shown = lines.length;
  if (hidden > 0) return `${shown} of ${shown + hidden} ${noun(kind, shown + hidden)} have the text`;
  if (shown === total) return `${total} ${noun(kind, total)}`;
  return `${shown} of ${total} ${noun(kind, total)} listed`;
}

const NOUNS: Readonly<Record<string, string>> = {
  chain: 'rule',
  map: 'element',
  set: 'element',
  'virtual servers': 'virtual server',
  'virtual server': 'real server',
  addresses: 'address',
  listeners: 'listener',
};

function noun(kind: string, count: number): string {
  const word = NOUNS[kind] ?? 'line';
  if (count === 1) return word;
  return word.endsWith('s') ? `${word}es` : `${word}s`;
}
