import { asString, asU32BE, asU64BE, type MessageWriter, readAttributes } from '../../netlink/index.ts';
import type { Attributes, Codec, Nested } from './codec.ts';
import type { Expression } from './expression.ts';
import { names, withoutUndefined } from './names.ts';
import type { Register } from './registers.ts';

/** Adds, updates or deletes an element of a set or map when a packet arrives. */
export interface Dynset {
  readonly kind: 'dynset';
  readonly op: 'add' | 'update' | 'delete';
  readonly set: string;
  /** The id of a set that is created in the same batch. The kernel does not list the id. */
  readonly setId?: number;
  readonly sregKey: Register;
  /** Only for maps: the data of the element. */
  readonly sregData?: Register;
  /** In milliseconds. By default the timeout of the set. */
  readonly timeout?: bigint;
  /** Each element has its own copy of these stateful expressions (counter, limit, connlimit, quota). */
  readonly expressions?: readonly Expression[];
}

const SET_NAME = 1;
const SET_ID = 2;
const OP = 3;
const SREG_KEY = 4;
const SREG_DATA = 5;
const TIMEOUT = 6;
const EXPR = 7;
const FLAGS = 9;
const EXPRESSIONS = 10;

/** The flag for several expressions per element. A single expression has another attribute and no flag. */
const SEVERAL = 0x2;

const NFTA_LIST_ELEM = 1;

const ops = names({ add: 0, update: 1, delete: 2 });

export const dynset: Codec<Dynset> = {
  name: 'dynset',
  highest: EXPRESSIONS,

  encode(writer, expression, nested) {
    const { sregKey, sregData, op, timeout, set, setId } = expression;
    writer.u32BE(SREG_KEY, sregKey);
    if (sregData !== undefined) writer.u32BE(SREG_DATA, sregData);
    writer.u32BE(OP, ops.number(op));
    if (timeout !== undefined) writer.u64BE(TIMEOUT, timeout);
    writer.string(SET_NAME, set);
    if (setId !== undefined) writer.u32BE(SET_ID, setId);
    encodeNested(writer, expression, nested);
  },

  decode(attributes, nested) {
    const set = asString(attributes.get(SET_NAME));
    const op = ops.name(asU32BE(attributes.get(OP)));
    const sregKey = asU32BE(attributes.get(SREG_KEY));
    const flags = asU32BE(attributes.get(FLAGS)) ?? 0;
    const expressions = decodeNested(attributes, nested);
    if (set === undefined || op === undefined || sregKey === undefined) return undefined;
    if (expressions === undefined || flags & ~SEVERAL) return undefined;
    const rest = withoutUndefined({
      setId: asU32BE(attributes.get(SET_ID)),
      sregData: asU32BE(attributes.get(SREG_DATA)),
      // If the rule has no timeout, the kernel lists zero.
      timeout: asU64BE(attributes.get(TIMEOUT)) || undefined,
      expressions: expressions.length > 0 ? expressions : undefined,
    });
    return { kind: 'dynset', op, set, sregKey, ...rest };
  },

  print({ op, sregKey, set, sregData, timeout, expressions }, nested) {
    const parts = [`dynset ${op} reg_key ${sregKey} set ${set}`];
    if (sregData !== undefined) parts.push(`sreg_data ${sregData}`);
    if (timeout !== undefined) parts.push(`timeout ${timeout}ms`);
    for (const expression of expressions ?? []) parts.push(`expr ${nested.print(expression)}`);
    return parts.join(' ');
  },
};

function encodeNested(writer: MessageWriter, { expressions = [] }: Dynset, nested: Nested): void {
  const [first, second] = expressions;
  if (first && !second) nested.encode(writer, EXPR, first);
  if (second) {
    const list = writer.nest(EXPRESSIONS);
    for (const expression of expressions) nested.encode(writer, NFTA_LIST_ELEM, expression);
    writer.close(list).u32BE(FLAGS, SEVERAL);
  }
}

/** Returns undefined if an expression is nested too deep. */
function decodeNested(attributes: Attributes, nested: Nested): Expression[] | undefined {
  const one = attributes.get(EXPR);
  const list = attributes.get(EXPRESSIONS);
  const values = one ? [one] : [];
  for (const { type, value } of list ? readAttributes(list) : []) if (type === NFTA_LIST_ELEM) values.push(value);
  const expressions: Expression[] = [];
  for (const value of values) {
    const expression = nested.decode(value);
    if (!expression) return undefined;
    expressions.push(expression);
  }
  return expressions;
}
