import { type CST, Lexer, type LineCounter, Parser } from 'yaml';
import { MAX_LEVELS, TooDeepError } from './nesting.ts';

/** A document has so many keys, values and marks that parsing it would take too much memory. */
export class TooManyLexemesError extends Error {
  override readonly name = 'TooManyLexemesError';
}

/**
 * The tokens of a YAML text, each a whole document, for the library's Composer. Throws a TooDeepError before the
 * Composer, which is recursive, sees a document that is nested too deep. Throws a TooManyLexemesError when a document
 * has more than `maxLexemes`.
 */
export function* yamlTokens(
  text: string,
  lines: LineCounter,
  maxLexemes = Number.POSITIVE_INFINITY,
): Generator<CST.Token, void> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser;
    // The parser keeps all lexemes of a document until its end.
    if (++lexemes > maxLexemes) throw new TooManyLexemesError();
    for (const token of parser.next(lexeme)) {
      lexemes = 0;
      yield token;
    }
    if (isTooDeep(parser.stack)) throw new TooDeepError(offset);
  }
  yield* parser.end();
}

/** The stack has the document, the collections that are open, and perhaps a scalar. */
function isTooDeep(stack: readonly CST.Token[]): boolean {
  return stack.length > MAX_LEVELS + 1 && COLLECTIONS.has(stack[MAX_LEVELS + 1]?.type ?? '');
}

const COLLECTIONS: ReadonlySet<string> = new Set(['block-map', 'block-seq', 'flow-collection']);
