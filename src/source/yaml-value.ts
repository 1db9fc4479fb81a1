import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml';

/** Manifests are about ten levels deep. */
const MOST_LEVELS = 64;
/** Values that aliases stand for count each time: a few lines of them can stand for billions. */
const MOST_VALUES = 4_000_000;

/** YAML that was understood but is not taken. */
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
}

interface Progress {
  readonly anchors: Map<string, Anchored>;
  size: number;
}

/**
 * The plain value of a YAML document. Made here rather than by the library, whose check for duplicate keys and whose
 * search for anchors take a time that grows with the square of the document.
 */
export function yamlValue(root: ParsedNode | null): unknown {
  return readNode(root, 0, { anchors: new Map(), size: 0 });
}

function readNode(node: ParsedNode | null, level: number, progress: Progress): unknown {
  if (node === null) return null;
  if (level > MOST_LEVELS) throw new UnusableYaml(node.range[0], `is nested deeper than ${MOST_LEVELS} levels`);
  if (isAlias(node)) return aliasValue(node.source, node.range[0], progress);
  const before = progress.size;
  grow(progress, 1, node.range[0]);
  let value: unknown;
  if (isMap<ParsedNode, ParsedNode | null>(node)) value = mapValue(node, level, progress);
  else if (isSeq<ParsedNode>(node)) value = node.items.map(item => readNode(item, level + 1, progress));
  else if (isScalar(node)) value = node.value;
  if (node.anchor !== undefined) progress.anchors.set(node.anchor, { value, size: progress.size - before });
  return value;
}

function mapValue(map: YAMLMap<ParsedNode, ParsedNode | null>, level: number, progress: Progress): unknown {
  const entries = new Map<string, unknown>();
  for (const { key, value } of map.items) {
    const at = key.range[0];
    if (!isScalar(key)) throw new UnusableYaml(at, 'a key must be a plain text');
    const name = String(key.value ?? '');
    if (name === '<<') throw new UnusableYaml(at, 'merge keys (<<) are not read: write the fields out');
    if (entries.has(name)) throw new UnusableYaml(at, `the key ${name} is there twice: take one away`);
    entries.set(name, readNode(value, level + 1, progress));
  }
  return Object.fromEntries(entries);
}

function aliasValue(anchor: string, offset: number, progress: Progress): unknown {
  const anchored = progress.anchors.get(anchor);
  if (!anchored) throw new UnusableYaml(offset, `the alias *${anchor} has no anchor &${anchor} that ends before it`);
  grow(progress, anchored.size, offset);
  return anchored.value;
}

function grow(progress: Progress, by: number, offset: number): void {
  progress.size += by;
  if (progress.size > MOST_VALUES) throw new UnusableYaml(offset, 'aliases stand for too many values here');
}
