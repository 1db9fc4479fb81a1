import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { goQuote } from '../go-quote.ts';
import { MAX_LEVELS, TooDeepError } from '../nesting.ts';
import { checkDirectives } from './check-directives.ts';
import { firstDocument } from './first-document.ts';
import { goSyntax } from './go-syntax.ts';
import { DocumentError, type Node, NULL } from './node.ts';
import { refuseEscapes, scalarNode } from './read-scalar.ts';
import { NO_KEY, NO_NAME, parseErrorText, scanErrorText } from './yaml-messages.ts';

/** Counts the values behind an alias at each use: a few lines of aliases can stand for billions of values. */
const MAX_VALUES = 100_000;

export interface YamlText {
  readonly node: Node;
  /** A text with the line for each duplicate key. The last of them counts. */
  readonly duplicates: readonly string[];
}

/** Converts the first document of a text to JSON, with sorted keys. Throws a DocumentError. */
export function readYaml(written: string): YamlText {
  if (CONTROL.test(written)) throw new DocumentError('yaml: control characters are not allowed');
  const text = written.replaceAll(/\r\n?|\x85/g, '\n');
  checkDirectives(text);
  const lines = new LineCounter();
  try {
    const contents = firstDocument(text, lines)?.contents ?? null;
    const reading: Reading = { text, lines, anchors: new Map(), open: new Set(), duplicates: [], size: 0, level: 0 };
    return { node: readNode(contents, reading), duplicates: reading.duplicates };
  } catch (error) {
    if (error instanceof TooDeepError) throw tooDeep(error, lines);
    throw error;
  }
}

/** Characters that YAML 1.1 does not allow. */
const CONTROL = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

interface Reading {
  readonly text: string;
  readonly lines: LineCounter;
  readonly anchors: Map<string, ParsedNode>;
  /** The nodes behind the aliases that are being read, to find a node that contains itself. */
  readonly open: Set<ParsedNode>;
  readonly duplicates: string[];
  size: number;
  /** How many collections are open, also behind aliases. */
  level: number;
}

function tooDeep({ offset, advice }: TooDeepError, lines: LineCounter): DocumentError {
  const { line, col } = lines.linePos(offset);
  return new DocumentError(`yaml: line ${line} column ${col}: ${advice}`);
}

function readNode(node: ParsedNode | null, reading: Reading): Node {
  reading.size++;
  if (reading.size > MAX_VALUES) throw new DocumentError('yaml: document contains excessive aliasing');
  if (node === null) return NULL;
  if (isAlias(node)) return readAlias(node, reading);
  if (node.anchor !== undefined) reading.anchors.set(node.anchor, node);
  if (isMap<ParsedNode, ParsedNode | null>(node) || isSeq<ParsedNode>(node)) {
    if (++reading.level > MAX_LEVELS) throw new TooDeepError(node.range[0]);
    const value = readCollection(node, reading);
    reading.level--;
    return value;
  }
  refuseEscapes(node, reading.text, reading.lines);
  return scalarNode(node);
}

type Collection = YAMLMap<ParsedNode, ParsedNode | null> | YAMLSeq<ParsedNode>;

function readCollection(node: Collection, reading: Reading): Node {
  if (isSeq<ParsedNode>(node)) return { kind: 'array', items: node.items.map(item => readNode(item, reading)) };
  const entries = new Map<string, Node>();
  readMap(node, entries, reading);
  const keys = [...entries.keys()].sort();
  return { kind: 'object', members: keys.map(key => ({ key, value: entries.get(key) ?? NULL })) };
}

function readAlias({ source: name, range }: Alias.Parsed, reading: Reading): Node {
  if (!/^[\w-]/.test(name)) {
    throw new DocumentError(scanErrorText(reading.lines.linePos(range[0]).line, NO_NAME));
  }
  return behindAlias(name, reading, node => readNode(node, reading));
}

function behindAlias<T>(name: string, reading: Reading, read: (node: ParsedNode) => T): T {
  const node = anchored(name, reading);
  if (reading.open.has(node)) throw new DocumentError(`yaml: anchor '${name}' value contains itself`);
  reading.open.add(node);
  const value = read(node);
  reading.open.delete(node);
  return value;
}

function anchored(name: string, reading: Reading): ParsedNode {
  const node = reading.anchors.get(name);
  if (!node) throw new DocumentError(`yaml: unknown anchor '${name}' referenced`);
  return node;
}

function readMap(map: YAMLMap<ParsedNode, ParsedNode | null>, into: Map<string, Node>, reading: Reading): void {
  for (const { key, value } of map.items) {
    if (isScalar(key) && key.type === 'PLAIN' && key.source === '<<') {
      mergeInto(value, into, reading);
      continue;
    }
    const name = keyText(isAlias(key) ? anchored(key.source, reading) : key, value, reading);
    if (into.has(name.text)) {
      const { line } = reading.lines.linePos(valueStart(key, value, reading.text));
      reading.duplicates.push(`line ${line}: key ${name.shown} already set in map`);
    }
    into.set(name.text, readNode(value, reading));
  }
}

/** Go reports a duplicate key with the line of its value. If it has no value, with the line of the key. */
function valueStart(key: ParsedNode, value: ParsedNode | null, text: string): number {
  if (value === null || (isScalar(value) && value.type === 'PLAIN' && value.source === '')) return key.range[0];
  const between = /\s*:(?:\s|#.*)*/y;
  between.lastIndex = key.range[1];
  return between.test(text) ? between.lastIndex : key.range[0];
}

function mergeInto(node: ParsedNode | null, into: Map<string, Node>, reading: Reading): void {
  reading.size++;
  if (isAlias(node)) behindAlias(node.source, reading, value => mergeInto(value, into, reading));
  else if (isMap<ParsedNode, ParsedNode | null>(node)) readMap(node, into, reading);
  else if (isSeq<ParsedNode>(node)) for (const item of node.items.toReversed()) mergeInto(item, into, reading);
  else throw new DocumentError('yaml: map merge requires map or sequence of maps as the value');
}

interface KeyText {
  readonly text: string;
  readonly shown: string;
}

function keyText(key: ParsedNode | null, value: ParsedNode | null, reading: Reading): KeyText {
  const node = readNode(key, reading);
  if (isScalar(key) && key.range[0] === key.range[1]) {
    throw new DocumentError(parseErrorText(reading.lines.linePos(key.range[0]).line - 1, NO_KEY));
  }
  switch (node.kind) {
    case 'string':
      return { text: node.text, shown: goQuote(node.text) };
    case 'number':
      return { text: node.text, shown: node.text };
    case 'bool':
      return { text: String(node.value), shown: String(node.value) };
    case 'null': {
      const shown = goSyntax(readNode(value, reading));
      throw new DocumentError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${shown}`);
    }
    default:
      throw new DocumentError(`yaml: invalid map key: ${goSyntax(node)}`);
  }
}
