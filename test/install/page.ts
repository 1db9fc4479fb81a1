import { readFileSync } from 'node:fs';

/** A shell block of a page. */
export interface Block {
  readonly text: string;
  /** The heading above the block. */
  readonly heading: string;
  /** Why no test can run the block. It is undefined if a test runs the block. */
  readonly notRun: string | undefined;
}

const FENCE = /^( *)```(\S*) *(.*)$/;
const NOT_RUN = 'not run: ';

/** The `sh` blocks of a page of docs/install, in their order. */
export function blocksOf(page: string): readonly Block[] {
  return blocksIn(`docs/install/${page}.md`);
}

/** The `sh` blocks of a document. */
export function blocksIn(path: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = '';
  let open: { readonly language: string; readonly rest: string; readonly lines: string[] } | undefined;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, , language = '', rest = ''] = FENCE.exec(line) ?? [];
    if (open === undefined) {
      if (FENCE.test(line)) open = { language, rest, lines: [] };
      else if (line.startsWith('#')) heading = line.replace(/^#+ /, '');
    } else if (FENCE.test(line)) {
      if (open.language === 'sh') blocks.push({ text: open.lines.join('\n'), heading, notRun: reasonOf(open.rest) });
      open = undefined;
    } else open.lines.push(line);
  }
  return blocks;
}

function reasonOf(rest: string): string | undefined {
  if (rest === '') return undefined;
  if (!rest.startsWith(NOT_RUN)) throw new Error(`a shell block has the unknown mark ${rest}`);
  return rest.slice(NOT_RUN.length);
}
