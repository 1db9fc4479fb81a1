import { foldLines } from './fold-lines.ts';
import { resolveScalar } from './resolve-scalar.ts';

export interface ScalarPlace {
  /** The indentation of the key or item that the text belongs to. */
  readonly indent: string;
  /** The number of characters before the text in its line. */
  readonly column: number;
  readonly isKey: boolean;
}

/**
 * A text as Go's YAML writer writes it: in double quotes if a reader would take it for another type, in single quotes
 * if its characters have a meaning in YAML, as a block if it has several lines.
 */
export function scalarText(text: string, place: ScalarPlace): string {
  if (text.includes('\n')) {
    return place.isKey || !canBeBlock(text) ? doubleQuoted(text, place) : block(text, place.indent);
  }
  if (resolveScalar(text).kind !== 'string' || isSexagesimal(text)) return doubleQuoted(text, place);
  if (canBePlain(text)) return foldLines([...text], '', place);
  if (SPECIAL.test(text)) return doubleQuoted(text, place);
  const characters = [...text].map(character => (character === "'" ? "''" : character));
  return foldLines(characters, "'", place);
}

/**
 * Characters that must be escaped. Go's writer escapes characters beyond 16 bits, this writer also rare line breaks.
 */
const SPECIAL = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u;

/** Some readers, though not Go's, take such a text for a number to the base of 60. */
function isSexagesimal(text: string): boolean {
  return /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(text);
}

function canBePlain(text: string): boolean {
  if (SPECIAL.test(text)) return false;
  if (/^(?:---|\.\.\.)/.test(text) || /^[#,[\]{}&*!|>'"%@`]/.test(text) || /^[-?](?:[ \t]|$)/.test(text)) return false;
  return !/:(?:[ \t]|$)/.test(text) && !/[ \t]#/.test(text) && !/^ | $/.test(text);
}

function canBeBlock(text: string): boolean {
  return !SPECIAL.test(text) && !/ $/.test(text) && !/ \n/.test(text);
}

function block(text: string, indent: string): string {
  const hint = /^[ \n]/.test(text) ? '2' : '';
  const chomp = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
  const body = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  return `|${hint}${chomp}\n${body.map(line => (line === '' ? '' : `${indent}  ${line}`)).join('\n')}`;
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\0', '0'],
  ['\x07', 'a'],
  ['\b', 'b'],
  ['\t', 't'],
  ['\n', 'n'],
  ['\v', 'v'],
  ['\f', 'f'],
  ['\r', 'r'],
  ['\x1b', 'e'],
  ['"', '"'],
  ['\\', '\\'],
  ['\x85', 'N'],
  ['\u2028', 'L'],
  ['\u2029', 'P'],
]);

function doubleQuoted(text: string, place: ScalarPlace): string {
  const escaped = [...text].map(character => {
    const short = SHORT_ESCAPES.get(character);
    if (short !== undefined) return `\\${short}`;
    if (!SPECIAL.test(character)) return character;
    const code = character.codePointAt(0) ?? 0;
    const hex = code.toString(16).toUpperCase();
    return code < 0x100
      ? `\\x${hex.padStart(2, '0')}`
      : code < 0x10000
        ? `\\u${hex.padStart(4, '0')}`
        : `\\U${hex.padStart(8, '0')}`;
  });
  return foldLines(escaped, '"', place);
}
