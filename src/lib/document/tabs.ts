import { type Document, isScalar, type LineCounter, type Node, visit } from 'yaml';
import { DocumentError } from './node.ts';
import { scanProblemText, tabWords, VIOLATES } from './yaml-words.ts';

/**
 * A line with a tab before nothing, or before a comment, is refused like one with a tab before a value, but for quotes,
 * blocks of text and brackets. Throws a DocumentError.
 */
export function refuseTabs(text: string, document: Document.Parsed, lines: LineCounter): void {
  if (!text.includes('\t')) return;
  const end = nextDocument(text, document.range[1]);
  const inside = rangesOf(document);
  for (const { index, 1: blanks = '' } of text.matchAll(/^( *)\t[ \t]*(?:#.*)?$/gm)) {
    const at = index + blanks.length;
    if (at >= end || inside.some(([start, stop]) => start < at && at < stop)) continue;
    const words = tabWords(text, at);
    if (words === VIOLATES && blanks.length > depthBefore(text, index)) continue;
    throw new DocumentError(scanProblemText(lines.linePos(at).line, words));
  }
}

function nextDocument(text: string, from: number): number {
  const mark = text.slice(from).search(/^(?:---|\.\.\.)(?:\s|$)/m);
  return mark < 0 ? text.length : from + mark;
}

/** Where tabs are part of a text, or between brackets. */
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

/** How far the last line with a value is indented, dashes before a key included. */
function depthBefore(text: string, offset: number): number {
  const before = text.slice(0, offset).trimEnd();
  const line = before.slice(before.lastIndexOf('\n') + 1);
  return /^ *(?:- +(?=\S+:(?: |$)))*/.exec(line)?.[0].length ?? 0;
}
