import { type Document, isScalar, type LineCounter, type Node, visit } from 'yaml';
import { DocumentError } from './node.ts';
import { scanErrorText, tabMessage, VIOLATES } from './yaml-messages.ts';

/**
 * Go's parser refuses a tab as indentation also in an empty line and before a comment. The library does not. Tabs
 * inside quotes, blocks of text and brackets are allowed. Throws a DocumentError.
 */
export function refuseTabs(text: string, document: Document.Parsed, lines: LineCounter): void {
  if (!text.includes('\t')) return;
  const end = nextDocument(text, document.range[1]);
  const inside = rangesOf(document);
  for (const { index, 1: blanks = '' } of text.matchAll(/^( *)\t[ \t]*(?:#.*)?$/gm)) {
    const at = index + blanks.length;
    if (at >= end || inside.some(([start, stop]) => start < at && at < stop)) continue;
    const message = tabMessage(text, at);
    if (message === VIOLATES && blanks.length > depthBefore(text, index)) continue;
    throw new DocumentError(scanErrorText(lines.linePos(at).line, message));
  }
}

function nextDocument(text: string, from: number): number {
  const mark = text.slice(from).search(/^(?:---|\.\.\.)(?:\s|$)/m);
  return mark < 0 ? text.length : from + mark;
}

/** The ranges in which tabs are allowed. */
function rangesOf(document: Document.Parsed): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  const add = ({ range }: Node) => {
    if (range) ranges.push([range[0], range[1]]);
  };
  visit(document, {
    Scalar: (_, node) => (isScalar(node) && node.type !== 'PLAIN' ? add(node) : undefined),
    Collection: (_, node) => (node.flow ? add(node) : undefined),
  });
  return ranges;
}

/** The indentation of the last line with a value, including dashes before a key. */
function depthBefore(text: string, offset: number): number {
  const before = text.slice(0, offset).trimEnd();
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return /^ *(?:- +(?=\S+:(?: |$)))*/.exec(line)?.[0].length ?? 0;
}
