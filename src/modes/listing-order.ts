import type { ListedBlock, ListedLine, ListedPart, Listing, NotListed } from './listing.ts';

/** A block before it has its place. Its links may lead to blocks that do not exist. */
export interface DraftBlock extends Omit<ListedBlock, 'group' | 'total'> {
  /** Packets come here from the kernel itself. The blocks that this one leads to get the same group. */
  readonly group?: string | undefined;
  /** The default is the number of lines. */
  readonly total?: number | undefined;
}

/** The most lines of the Service in a listing, and the most other lines of one block. */
export const MAX_SERVICE_LINES = 3000;
const MAX_FIXED_LINES = 1000;

/** The group of blocks that no listed line leads to. */
const NOT_REACHED = 'not used now';

export interface ListingParts {
  /** Those with a group come in the order in which packets meet them. */
  readonly blocks: readonly DraftBlock[];
  readonly notListed?: readonly NotListed[];
  /** The group of blocks that no listed line leads to. */
  readonly rest?: string;
}

/**
 * Brings blocks into the order in which packets meet them: from each hook, a block comes before those that it leads to.
 * Cuts what is too long, and makes a text of each link that leads nowhere: targets such as ACCEPT look like chains.
 */
export function arrangeListing({ blocks, notListed = [], rest = NOT_REACHED }: ListingParts): Listing {
  const cutter = new LineCutter();
  const kept = inPacketOrder(blocks, rest).flatMap(block => cutter.cut(block) ?? []);
  const ids = new Set(kept.map(({ id }) => id));
  const left = notListed.filter(({ count }) => count > 0);
  return {
    blocks: kept.map(block => ({ ...block, lines: block.lines.map(line => withoutDeadLinks(line, ids)) })),
    ...(left.length > 0 && { notListed: left }),
    ...(cutter.hasCut && { incomplete: `the listing has only the first ${MAX_SERVICE_LINES} lines of the Service` }),
  };
}

function inPacketOrder(drafts: readonly DraftBlock[], rest: string): readonly ListedBlock[] {
  const byId = new Map(drafts.map(draft => [draft.id, draft]));
  const placed = new Map<string, ListedBlock>();
  const place = (draft: DraftBlock | undefined, group: string) => {
    if (!draft || placed.has(draft.id)) return;
    // A plan that is not written yet may have more lines than the mode has counted.
    placed.set(draft.id, { ...draft, group, total: Math.max(draft.total ?? 0, draft.lines.length) });
    for (const id of linksOf(draft)) {
      const next = byId.get(id);
      if (next?.group === undefined) place(next, group);
    }
  };
  for (const draft of drafts) if (draft.group !== undefined) place(draft, draft.group);
  for (const draft of drafts) place(draft, rest);
  return [...placed.values()];
}

function* linksOf({ lines }: DraftBlock): Generator<string> {
  for (const { parts } of lines) for (const part of parts) if (typeof part !== 'string') yield part.block;
}

class LineCutter {
  hasCut = false;
  #serviceLines = 0;

  /** Undefined if nothing is left of a block that belongs to one service port. */
  cut(block: ListedBlock): ListedBlock | undefined {
    let fixed = 0;
    const lines = block.lines.filter(({ service }) => {
      if (service === undefined) return ++fixed <= MAX_FIXED_LINES;
      this.hasCut ||= ++this.#serviceLines > MAX_SERVICE_LINES;
      return !this.hasCut;
    });
    const isEmptied = lines.length === 0 && block.lines.length > 0 && block.servicePort !== undefined;
    return isEmptied ? undefined : { ...block, lines };
  }
}

function withoutDeadLinks({ parts, service }: ListedLine, ids: ReadonlySet<string>): ListedLine {
  const joined: ListedPart[] = [];
  for (const part of parts) {
    if (typeof part !== 'string' && ids.has(part.block)) joined.push(part);
    else pushText(joined, typeof part === 'string' ? part : part.text);
  }
  return { parts: joined, ...(service !== undefined && { service }) };
}

function pushText(parts: ListedPart[], text: string): void {
  const last = parts.at(-1);
  if (typeof last === 'string') parts[parts.length - 1] = last + text;
  else if (text !== '') parts.push(text);
}

/** A name in a text: `@` before `service-ips`. */
export interface Reference {
  /** What stands before the name. */
  readonly before: string;
  readonly name: string;
  /** The id of the block that the name stands for. */
  readonly block: string;
}

/** Cuts a text at the names in it. The names come in the order in which the text has them. */
export function linkNames(text: string, references: readonly Reference[]): readonly ListedPart[] {
  const parts: ListedPart[] = [];
  let end = 0;
  for (const { before, name, block } of references) {
    const found = placeOf(text, before, name, end);
    if (found === undefined) continue;
    if (found > end) parts.push(text.slice(end, found));
    parts.push({ text: name, block });
    end = found + name.length;
  }
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

function placeOf(text: string, before: string, name: string, from: number): number | undefined {
  for (let at = text.indexOf(before + name, from); at >= 0; at = text.indexOf(before + name, at + 1)) {
    const start = at + before.length;
    const next = text[start + name.length];
    if (next === undefined || next === ' ') return start;
  }
  return undefined;
}
