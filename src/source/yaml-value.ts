import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml';
import { MAX_LEVELS, TooDeepError } from '../lib/nesting.ts';

/** Counts the values behind an alias at each use: a few lines of aliases can stand for billions of values. */
const MAX_VALUES = 4_000_000;

/** Valid YAML that is not accepted. */
export class UnusableYaml extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

interface Anchored {
  readonly value: unknown;
  readonly size: number;
  /** How many levels are below the value. */
  readonly levels: number;
}

interface Progress {
  readonly anchors: Map<string, Anchored>;
  size: number;
  /** The deepest level in the node that is being read. Values behind aliases count. */
  deepest: number;
}

/**
 * The plain value of a YAML document. The library can make it too, but the time of its check for duplicate keys and of
 * its search for anchors grows with the square of the document's size.
 */
export function yamlValue(root: ParsedNode | null): unknown {
  return readNode(root, 0, { anchors: new Map(), size: 0, deepest: 0 });
}

function readNode(node: ParsedNode | null, level: number, progress: Progress): unknown {
  if (node === null) return null;
  if (isAlias(node)) return aliasValue(node.source, node.range[0], level, progress);
  const { size, deepest } = progress;
  progress.deepest = 0;
  reach(progress, level, node.range[0]);
  grow(progress, 1, node.range[0]);
  let value: unknown;
  if (isMap<ParsedNode, ParsedNode | null>(node)) value = mapValue(node, level, progress);
  else if (isSeq<ParsedNode>(node)) value = node.items.map(item => readNode(item, level + 1, progress));
  else if (isScalar(node)) value = node.value;
  if (node.anchor !== undefined) {
    progress.anchors.set(node.anchor, { value, size: progress.size - size, levels: progress.deepest - level });
  }
  progress.deepest = Math.max(progress.deepest, deepest);
  return value;
}

function mapValue(map: YAMLMap<ParsedNode, ParsedNode | null>, level: number, progress: Progress): unknown {
  const entries = new Map<string, unknown>();
  for (const { key, value } of map.items) {
    const at = key.range[0];
    if (!isScalar(key)) throw new UnusableYaml(at, 'a key must be plain text');
    const name = String(key.value ?? '');
    if (name === '<<') throw new UnusableYaml(at, 'merge keys (<<) are not supported: write the fields out');
    if (entries.has(name)) throw new UnusableYaml(at, `has the key ${name} twice: remove one`);
    entries.set(name, readNode(value, level + 1, progress));
  }
  return Object.fromEntries(entries);
}

function aliasValue(anchor: string, offset: number, level: number, progress: Progress): unknown {
  const anchored = progress.anchors.get(anchor);
  if (!anchored) throw new UnusableYaml(offset, `the alias *${anchor} has no anchor &${anchor} that ends before it`);
  grow(progress, anchored.size, offset);
  reach(progress, level + anchored.levels, offset);
  return anchored.value;
}

function reach(progress: Progress, level: number, offset: number): void {
  if (level > MAX_LEVELS) throw new TooDeepError(offset);
  progress.deepest = Math.max(progress.deepest, level);
}

function grow(progress: Progress, by: number, offset: number): void {
  progress.size += by;
  if (progress.size > MAX_VALUES) throw new UnusableYaml(offset, 'has aliases that stand for too many values');
}
