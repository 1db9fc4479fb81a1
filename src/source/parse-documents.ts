import { getHeapStatistics } from 'node:v8';
import { Composer, type Document, isMap, isScalar, isSeq, LineCounter, type ParsedNode } from 'yaml';
import type { FieldPath } from '../api/index.ts';
import { errorText } from '../lib/error-text.ts';
import { placeOf, TooDeepError } from '../lib/nesting.ts';
import { parseJson } from '../lib/parse-json.ts';
import { TooManyLexemesError, yamlTokens } from '../lib/yaml-tokens.ts';
import { JsonPlaces } from './json-places.ts';
import { UnusableYaml, yamlValue } from './yaml-value.ts';

/** Parsing YAML takes about a second for each megabyte. JSON is a hundred times faster. */
export const MAX_YAML_BYTES = 4 << 20;
/** The YAML library needs up to 400 bytes of memory for each, and holds a whole document. */
const MAX_LEXEMES = 2_000_000;
/** So a document takes at most two fifths of the memory. */
const MEMORY_PER_LEXEME = 1000;

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The place of a value, or of the name of a field. */
export type Locate = (path: FieldPath, part?: 'value' | 'name') => Position | undefined;

export type ParsedDocument =
  | { readonly kind: 'value'; readonly value: unknown; readonly locate: Locate }
  | { readonly kind: 'error'; readonly message: string; readonly position?: Position | undefined };

/** How many lexemes a YAML document may have, for a memory limit in bytes. */
export function maxLexemes(memory: number): number {
  return Math.min(MAX_LEXEMES, Math.floor(memory / MEMORY_PER_LEXEME));
}

/** The limit of the control group, which is 0 or huge if there is none, or the limit of V8, whichever is less. */
function processMemory(): number {
  return Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, getHeapStatistics().heap_size_limit);
}

/** After this long, the parser lets other work of the process run. */
const TIME_SLICE_MS = 20;

/**
 * Parses all documents of a text, YAML or JSON. Ends at the first error, because the beginning of the next document is
 * not known then. Never throws.
 */
export async function* parseYaml(text: string, memory = processMemory()): AsyncGenerator<ParsedDocument> {
  const lines = new LineCounter();
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false, logLevel: 'silent', lineCounter: lines });
  const tokens = yamlTokens(text, lines, maxLexemes(memory));
  let sliceStart = performance.now();
  for (let isDone = false; !isDone; ) {
    const step = nextDocuments(composer, tokens, text.length);
    isDone = step.isLast;
    for (const document of step.documents) {
      const parsed = readDocument(document, lines);
      if (parsed) yield parsed;
      if (parsed?.kind === 'error') return;
    }
    if (step.error !== undefined) return yield errorDocument(step.error, lines);
    if (performance.now() - sliceStart > TIME_SLICE_MS) {
      await new Promise(resolve => setImmediate(resolve));
      sliceStart = performance.now();
    }
  }
}

/** Parses JSON. Returns undefined if the text is not JSON. */
export function parseJsonDocument(text: string): ParsedDocument | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    const value = parseJson(text);
    const places = new JsonPlaces(text);
    return { kind: 'value', value, locate: path => places.find(path) };
  } catch (error) {
    if (!(error instanceof TooDeepError)) return undefined;
    return { kind: 'error', message: error.advice, position: placeOf(text, error.offset) };
  }
}

interface Step {
  readonly documents: readonly Document.Parsed[];
  readonly isLast: boolean;
  readonly error?: unknown;
}

function nextDocuments(composer: Composer, tokens: Iterator<Parameters<Composer['next']>[0]>, length: number): Step {
  const { stackTraceLimit } = Error;
  // A text that is not YAML causes an error at every second character. Their stack traces would take most of the time.
  Error.stackTraceLimit = 0;
  try {
    const token = tokens.next();
    if (!token.done) return { documents: [...composer.next(token.value)], isLast: false };
    // The library keeps errors in a document. Errors before the first document would be lost without one.
    const forceDocument = composer.streamInfo().errors.length > 0;
    return { documents: [...composer.end(forceDocument, length)], isLast: true };
  } catch (error) {
    // The document before the error is complete.
    return { documents: [...composer.end()], isLast: true, error };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function errorDocument(error: unknown, lines: LineCounter): ParsedDocument {
  if (error instanceof TooDeepError) {
    return { kind: 'error', message: error.advice, position: positionOf(error.offset, lines) };
  }
  if (error instanceof TooManyLexemesError) {
    return { kind: 'error', message: 'has a YAML document that takes too much memory: split it, or write it as JSON' };
  }
  return { kind: 'error', message: `cannot be parsed (${errorText(error)}): split the file` };
}

/** Returns undefined for an empty document, such as the one before a first `---`. */
function readDocument(document: Document.Parsed, lines: LineCounter): ParsedDocument | undefined {
  const [first] = document.errors;
  if (first) return { kind: 'error', message: first.message, position: positionOf(first.pos[0], lines) };
  const { contents } = document;
  try {
    const value = yamlValue(contents);
    if (value === null) return undefined;
    return { kind: 'value', value, locate: (path, part) => positionOf(offsetOf(contents, path, part), lines) };
  } catch (error) {
    if (!(error instanceof UnusableYaml)) return errorDocument(error, lines);
    return { kind: 'error', message: error.message, position: positionOf(error.offset, lines) };
  }
}

/** The offset of a field. If the field is missing, that of the nearest node around it. */
function offsetOf(root: ParsedNode | null, path: FieldPath, part: 'value' | 'name' = 'value'): number {
  if (part === 'name') return nameOffsetOf(root, path) ?? offsetOf(root, path);
  let node = root;
  let offset = 0;
  for (const step of [undefined, ...path]) {
    if (step !== undefined) node = childOf(node, step);
    if (!node) break;
    offset = node.range[0];
  }
  return offset;
}

function nameOffsetOf(root: ParsedNode | null, path: FieldPath): number | undefined {
  const parent = path.slice(0, -1).reduce(childOf, root);
  if (!isMap<ParsedNode, ParsedNode | null>(parent)) return undefined;
  return parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))?.key.range[0];
}

function childOf(node: ParsedNode | null, step: string | number): ParsedNode | null {
  if (isMap<ParsedNode, ParsedNode | null>(node)) {
    return node.items.find(({ key }) => isScalar(key) && key.value === step)?.value ?? null;
  }
  return isSeq<ParsedNode>(node) && typeof step === 'number' ? (node.items[step] ?? null) : null;
}

function positionOf(offset: number, lines: LineCounter): Position {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
