import { asBytes, asString, attributeMap, type MessageWriter, readAttributes } from '../../netlink/index.ts';
import { bitwise } from './bitwise.ts';
import { byteorder } from './byteorder.ts';
import { cmp } from './cmp.ts';
import type { Decoder, Encoder, Nested } from './codec.ts';
import { connlimit } from './connlimit.ts';
import { counter } from './counter.ts';
import { ct } from './ct.ts';
import { dynset } from './dynset.ts';
import type { Expression } from './expression.ts';
import { fib } from './fib.ts';
import { hash } from './hash.ts';
import { immediate } from './immediate.ts';
import { limit } from './limit.ts';
import { log } from './log.ts';
import { lookup } from './lookup.ts';
import { masquerade } from './masquerade.ts';
import { meta } from './meta.ts';
import { withoutUndefined } from './names.ts';
import { nat } from './nat.ts';
import { notrack } from './notrack.ts';
import { numgen } from './numgen.ts';
import { objref } from './objref.ts';
import { payload } from './payload.ts';
import { quota } from './quota.ts';
import { range } from './range.ts';
import { redirect } from './redirect.ts';
import { reject } from './reject.ts';
import { socket } from './socket.ts';

const NFTA_LIST_ELEM = 1;
const NFTA_EXPR_NAME = 1;
const NFTA_EXPR_DATA = 2;
const NESTED = 0x8000;

/** A rule can contain a dynset, and a dynset can contain stateful expressions. The kernel nests no deeper. */
const DEEPEST = 1;

type Known = Exclude<Expression, { kind: 'unknown' }>;
type ByKind = { [E in Known as E['kind']]: E };

/** The codec that writes each kind. */
const encoders: { readonly [K in keyof ByKind]: Encoder<ByKind[K]> } = {
  bitwise,
  byteorder,
  cmp,
  connlimit,
  counter,
  ct,
  'ct-set': ct,
  dynset,
  fib,
  immediate,
  jhash: hash,
  limit,
  log,
  lookup,
  masquerade,
  meta,
  'meta-set': meta,
  nat,
  notrack,
  numgen,
  objref,
  'objref-map': objref,
  payload,
  'payload-write': payload,
  quota,
  range,
  redirect,
  reject,
  shift: bitwise,
  socket,
  symhash: hash,
  verdict: immediate,
};

const all: readonly Decoder<Known>[] = [
  bitwise,
  byteorder,
  cmp,
  connlimit,
  counter,
  ct,
  dynset,
  fib,
  hash,
  immediate,
  limit,
  log,
  lookup,
  masquerade,
  meta,
  nat,
  notrack,
  numgen,
  objref,
  payload,
  quota,
  range,
  redirect,
  reject,
  socket,
];

/** The codec that reads each expression, by the kernel's name. */
const decoders: ReadonlyMap<string, Decoder<Known>> = new Map(all.map(codec => [codec.name, codec]));

/** Writes an attribute that contains a list of expressions. */
export function encodeExpressions(
  writer: MessageWriter,
  attributeType: number,
  expressions: readonly Expression[],
): void {
  const list = writer.nest(attributeType);
  for (const expression of expressions) encodeExpression(writer, NFTA_LIST_ELEM, expression);
  writer.close(list);
}

/** The expressions in the value of a list attribute. An expression that cannot be decoded is unknown. Never throws. */
export function decodeExpressions(value: Buffer): Expression[] {
  const expressions: Expression[] = [];
  for (const { type, value: element } of readAttributes(value)) {
    if (type === NFTA_LIST_ELEM) expressions.push(decodeExpression(element));
  }
  return expressions;
}

/** One line per expression, as in `nft --debug=netlink`: `[ payload load 4b @ network header + 16 => reg 1 ]`. */
export function printExpressions(expressions: readonly Expression[]): string[] {
  return expressions.map(printExpression);
}

export function printExpression(expression: Expression): string {
  if (expression.kind !== 'unknown') return `[ ${printKnown(expression)} ]`;
  const { name, data } = expression;
  return `[ ${[name, ...(data?.length ? [`0x${data.toString('hex')}`] : [])].join(' ')} ]`;
}

/** Writes an attribute that contains one expression. */
export function encodeExpression(writer: MessageWriter, attributeType: number, expression: Expression): void {
  const nest = writer.nest(attributeType);
  if (expression.kind === 'unknown') {
    const { name, data } = expression;
    writer.string(NFTA_EXPR_NAME, name);
    if (data) writer.data(NFTA_EXPR_DATA | NESTED, data);
  } else {
    encodeKnown(writer, expression);
  }
  writer.close(nest);
}

function encodeKnown<K extends keyof ByKind>(writer: MessageWriter, expression: { kind: K } & ByKind[K]): void {
  const encoder = encoders[expression.kind];
  writer.string(NFTA_EXPR_NAME, encoder.name);
  if (encoder.highest === 0) return;
  const data = writer.nest(NFTA_EXPR_DATA);
  encoder.encode(writer, expression, nestedAt(DEEPEST));
  writer.close(data);
}

function printKnown<K extends keyof ByKind>(expression: { kind: K } & ByKind[K]): string {
  return encoders[expression.kind].print(expression, nestedAt(DEEPEST));
}

/** The expression in the value of an attribute that `encodeExpression` writes. */
export function decodeExpression(element: Buffer, depth = 0): Expression {
  const attributes = attributeMap(element);
  const name = asString(attributes.get(NFTA_EXPR_NAME)) ?? '';
  const data = attributes.get(NFTA_EXPR_DATA);
  return decodeKnown(name, data, depth) ?? { kind: 'unknown', name, ...withoutUndefined({ data: asBytes(data) }) };
}

function decodeKnown(name: string, data: Buffer | undefined, depth: number): Expression | undefined {
  const decoder = decoders.get(name);
  if (!decoder) return undefined;
  const attributes = data ? attributeMap(data) : new Map<number, Buffer>();
  for (const type of attributes.keys()) if (type > decoder.highest) return undefined;
  return decoder.decode(attributes, nestedAt(depth + 1));
}

function nestedAt(depth: number): Nested {
  return {
    encode: encodeExpression,
    decode: value => (depth > DEEPEST ? undefined : decodeExpression(value, depth)),
    print: printExpression,
  };
}
