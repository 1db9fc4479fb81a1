import { goQuote } from './go-quote.ts';

/** Control characters, marks that change the order of a text, line separators, and what is not a character. */
const NOT_PRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** A text from outside for one line of a terminal or a log: Go's escapes replace characters that are not printable. */
export function printable(text: string): string {
  return text.replaceAll(NOT_PRINTABLE, character => goQuote(character).slice(1, -1));
}

/** A text of several lines. Line feeds and tabs stay. */
export function printableLines(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, printable);
}

/** JSON in one line for a terminal or a log. It means the same: JSON.stringify escapes only the first 32 characters. */
export function printableJson(json: string): string {
  return json.replaceAll(NOT_PRINTABLE, character => {
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    return units.map(unit => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}
