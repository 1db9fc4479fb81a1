import type { LineCounter, Scalar } from 'yaml';
import { goFloatName } from '../go-float-name.ts';
import { DocumentError, type Node, NULL } from './node.ts';
import { type Resolved, resolveScalar } from './resolve-scalar.ts';
import { scanErrorText } from './yaml-messages.ts';

/** Refuses escapes that the library knows and Go's parser does not. Throws a DocumentError. */
export function refuseEscapes({ type, range }: Scalar.Parsed, text: string, lines: LineCounter): void {
  if (type !== 'QUOTE_DOUBLE') return;
  for (const { 0: written, index } of text.slice(range[0], range[1]).matchAll(/\\(?:u.{4}|.)/gs)) {
    const isSurrogate = /^\\ud[89a-f]/i.test(written);
    if (written !== '\\/' && !isSurrogate) continue;
    const message = isSurrogate ? 'found invalid Unicode character escape code' : 'found unknown escape character';
    throw new DocumentError(scanErrorText(lines.linePos(range[0] + index).line, message));
  }
}

const TAG = 'tag:yaml.org,2002:';
const TAGS: ReadonlyMap<string, readonly Resolved['kind'][]> = new Map([
  [`${TAG}bool`, ['bool']],
  [`${TAG}int`, ['int']],
  [`${TAG}float`, ['float', 'int']],
  [`${TAG}null`, ['null']],
  [`${TAG}timestamp`, ['timestamp']],
] as const);

/** Converts a scalar to JSON. Throws a DocumentError if the scalar does not have the type of its tag. */
export function scalarNode(scalar: Scalar.Parsed): Node {
  const text = scalar.source;
  if (scalar.tag === `${TAG}binary`) return { kind: 'string', text: binaryText(text) };
  const wanted = TAGS.get(scalar.tag ?? '');
  if (!wanted && (scalar.tag !== undefined || scalar.type !== 'PLAIN')) return { kind: 'string', text };
  const resolved = resolveScalar(text);
  if (wanted && !wanted.includes(resolved.kind)) {
    const [found, tag] = [resolved.kind === 'string' ? 'str' : resolved.kind, scalar.tag?.slice(TAG.length)];
    throw new DocumentError(`yaml: cannot decode !!${found} \`${text}\` as a !!${tag}`);
  }
  return jsonNode(resolved, text);
}

function binaryText(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') === base64.replaceAll('\n', '')) return bytes.toString();
  throw new DocumentError('yaml: !!binary value contains invalid base64 data');
}

function jsonNode(resolved: Resolved, text: string): Node {
  switch (resolved.kind) {
    case 'null':
      return NULL;
    case 'bool':
      return { kind: 'bool', value: resolved.value };
    case 'int':
      return { kind: 'number', text: String(resolved.value) };
    case 'float':
      if (!Number.isFinite(resolved.value)) {
        throw new DocumentError(`json: unsupported value: ${goFloatName(resolved.value)}`);
      }
      return { kind: 'number', text: String(resolved.value) };
    case 'timestamp':
    case 'string':
      return { kind: 'string', text };
  }
}
