import { LineCounter } from 'yaml';
import type { FieldPath } from '../api/index.ts';
import { stringEnd } from '../lib/parse-json.ts';

const SPACE = /\s*/y;
/** A number, or one of the words `true`, `false` and `null`. */
const WORD = /[^\s,\]}]*/y;

/**
 * Finds the places of values in a text that is valid JSON. The YAML parser could find them too, but it needs a hundred
 * times the memory. Reads each list and each map on a path only once, so that many places in a long list take little time.
 */
export class JsonPlaces {
  readonly #text: string;
  readonly #children = new Map<number, ReadonlyMap<string | number, number>>();
  #lines: LineCounter | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The place of a value. If it is missing, that of the nearest value around it. */
  find(path: FieldPath): { readonly line: number; readonly column: number } {
    let offset = skip(SPACE, this.#text, 0);
    for (const step of path) {
      const child = this.#childrenOf(offset).get(step);
      if (child === undefined) break;
      offset = child;
    }
    this.#lines ??= lineStarts(this.#text);
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }

  #childrenOf(offset: number): ReadonlyMap<string | number, number> {
    const known = this.#children.get(offset);
    if (known) return known;
    const children = readChildren(this.#text, offset);
    this.#children.set(offset, children);
    return children;
  }
}

/** The offsets of the values of the list or map that begins at the offset. */
function readChildren(text: string, start: number): ReadonlyMap<string | number, number> {
  const children = new Map<string | number, number>();
  const isMap = text[start] === '{';
  if (!isMap && text[start] !== '[') return children;
  let at = skip(SPACE, text, start + 1);
  while (at < text.length && text[at] !== '}' && text[at] !== ']') {
    let key: string | number = children.size;
    if (isMap) {
      const end = stringEnd(text, at) + 1;
      key = String(JSON.parse(text.slice(at, end)));
      at = skip(SPACE, text, skip(SPACE, text, end) + 1);
    }
    children.set(key, at);
    at = skip(SPACE, text, valueEnd(text, at));
    if (text[at] === ',') at = skip(SPACE, text, at + 1);
  }
  return children;
}

/** The offset after the value that begins at the offset. */
function valueEnd(text: string, start: number): number {
  let level = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = stringEnd(text, at);
    else if (character === '{' || character === '[') level++;
    else if (character === '}' || character === ']') level--;
    else if (level === 0) return skip(WORD, text, at);
    if (level === 0) return at + 1;
  }
  return text.length;
}

/** The offset after the characters that the expression matches. */
function skip(expression: RegExp, text: string, offset: number): number {
  expression.lastIndex = offset;
  expression.test(text);
  return expression.lastIndex;
}

function lineStarts(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return lines;
}
