import { Composer, type Document, isCollection, type LineCounter } from 'yaml';
import { yamlTokens } from '../yaml-tokens.ts';
import { DocumentError } from './node.ts';
import { refuseFlowColons } from './refuse-flow-colons.ts';
import { refuseTabs } from './refuse-tabs.ts';
import { yamlErrorText } from './yaml-messages.ts';

/** Parses the first document of a text, like Go. Throws a DocumentError or a TooDeepError. */
export function firstDocument(text: string, lines: LineCounter): Document.Parsed | undefined {
  // Without a schema. resolveScalar decides which plain scalars are numbers or booleans.
  const options = {
    schema: 'failsafe',
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  } as const;
  const composer = new Composer({ ...options, lineCounter: lines });
  for (const document of composer.compose(yamlTokens(text, lines))) {
    refuseFlowColons(document, lines);
    if (isBroken(document, lines)) throw new DocumentError(yamlErrorText(text, document.errors));
    refuseTabs(text, document, lines);
    return document;
  }
  const { errors } = composer.streamInfo();
  if (errors.length > 0) throw new DocumentError(yamlErrorText(text, errors));
  return undefined;
}

/**
 * For Go, text after a first value in brackets, or text to the left of the first value, is another document, which is
 * not read.
 */
function isBroken({ contents, errors }: Document.Parsed, lines: LineCounter): boolean {
  const [first] = errors;
  if (!first) return false;
  if (!contents || !first.message.endsWith('at node end')) return true;
  if (isCollection(contents) && contents.flow) return false;
  return lines.linePos(first.pos[0]).col >= lines.linePos(contents.range[0]).col;
}
