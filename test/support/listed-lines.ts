import type { ListedBlock, ListedLine, ListedPart, Listing } from '../../src/modes/index.ts';

export const partText = (part: ListedPart): string => (typeof part === 'string' ? part : part.text);

export const lineText = ({ parts }: ListedLine): string => parts.map(partText).join('');

/** `default/web: …` for a line of a Service, and all lines of one block if given. */
export function linesOf(listing: Listing, id?: string): readonly string[] {
  const blocks = id === undefined ? listing.blocks : listing.blocks.filter(block => block.id === id);
  return blocks.flatMap(({ lines }) => lines.map(lineText));
}

export function blockOf({ blocks }: Listing, id: string): ListedBlock {
  const block = blocks.find(one => one.id === id);
  if (!block) throw new Error(`there is no block ${id} among ${blocks.map(one => one.id).join(', ')}`);
  return block;
}

/** Names of chains, maps and sets in the words of nft and iptables. Some are targets of the kernel. */
const NAME = /(?:\b(?:jump|goto) |@|(?:^| )-j |--match-set )(\S+)$/;
const OF_KERNEL = /^(ACCEPT|DROP|REJECT|RETURN|MARK|MASQUERADE|DNAT|REDIRECT)$/;

/** What is wrong with the links: those that lead nowhere, and names that are no links. */
export function wrongLinks({ blocks }: Listing): readonly string[] {
  const ids = new Set(blocks.map(({ id }) => id));
  const wrong: string[] = [];
  if (ids.size < blocks.length) wrong.push('two blocks have the same id');
  for (const { id, lines } of blocks) {
    for (const { parts } of lines) {
      for (const part of parts) {
        if (typeof part !== 'string') {
          if (!ids.has(part.block)) wrong.push(`${id}: ${part.text} leads to no block`);
          continue;
        }
        // A name that is no link stands inside of a text.
        const words = part.split(' ');
        for (let end = 1; end <= words.length; end++) {
          const name = NAME.exec(words.slice(0, end).join(' '))?.[1];
          if (name !== undefined && !OF_KERNEL.test(name)) wrong.push(`${id}: ${name} is no link`);
        }
      }
    }
  }
  return wrong;
}

/** The groups must be in one piece each, so that an outline has each heading once. */
export function groupsOf({ blocks }: Listing): readonly string[] {
  return blocks.map(({ group }) => group).filter((group, i, all) => group !== all[i - 1]);
}
