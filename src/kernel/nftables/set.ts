import { asString, asU32BE, asU64BE, attributeMap, type Message, type MessageWriter } from '../netlink/index.ts';
import { byteOrder, type DataType, dataSize, fieldSizes, typeNumber, typesOf } from './datatype.ts';
import { printDuration } from './duration.ts';
import { decodeExpression, encodeExpression } from './expressions/expressions.ts';
import { NFGENMSG_LENGTH } from './message.ts';
import { commentBytes, commentText, decodeUserdata, encodeUserdata, printComment } from './userdata.ts';

interface SetProperties {
  readonly name: string;
  /** Several types are a concatenation: `ipv4_addr . inet_service`. */
  readonly type: readonly DataType[];
  /** In the order of SetFlag. */
  readonly flags?: readonly SetFlag[];
  /** The default lifetime of elements in milliseconds. */
  readonly timeout?: number;
  /** The kernel searches for expired elements in this interval, in milliseconds. */
  readonly gcInterval?: number;
  /** The largest number of elements. A `dynamic` set needs a size, or packets can fill it without limit. */
  readonly size?: number;
  /** Every element counts the packets that match it. */
  readonly counter?: boolean;
  readonly comment?: string;
  readonly handle?: number;
  /** An anonymous set is named `__set%d`. Lookups of the same transaction refer to it by this id, which is not zero. */
  readonly id?: number;
}

export interface NftSet extends SetProperties {
  readonly kind: 'set';
}

export interface NftMap extends SetProperties {
  readonly kind: 'map';
  /** `['verdict']` makes it a verdict map. */
  readonly data: readonly DataType[];
}

export type SetOrMap = NftSet | NftMap;

/**
 * interval   Elements can be ranges.
 * dynamic    Rules add elements.
 * timeout    Elements can have a lifetime.
 * constant   The set cannot change once a rule uses it.
 * anonymous  The set belongs to one rule and is deleted with it.
 */
export type SetFlag = (typeof FLAGS)[number][0];

const FLAGS = [
  ['anonymous', 0x1],
  ['constant', 0x2],
  ['interval', 0x4],
  ['dynamic', 0x20],
  ['timeout', 0x10],
] as const;
const FLAG_MAP = 0x8;
const FLAG_TIMEOUT = 0x10;
const FLAG_CONCAT = 0x80;

export const SetAttribute = {
  TABLE: 1,
  NAME: 2,
  FLAGS: 3,
  KEY_TYPE: 4,
  KEY_LEN: 5,
  DATA_TYPE: 6,
  DATA_LEN: 7,
  POLICY: 8,
  DESC: 9,
  ID: 10,
  TIMEOUT: 11,
  GC_INTERVAL: 12,
  USERDATA: 13,
  OBJ_TYPE: 15,
  HANDLE: 16,
  EXPR: 17,
  EXPRESSIONS: 18,
} as const;
export const SetDescAttribute = { SIZE: 1, CONCAT: 2 } as const;
export const SetFieldAttribute = { LEN: 1 } as const;
const NFTA_LIST_ELEM = 1;

/** NFTNL_UDATA_SET_*. nft also stores what it needs to print a `typeof`. A set with a `type` does not need that. */
const SetUserdata = { KEY_BYTEORDER: 0, DATA_BYTEORDER: 1, DATA_INTERVAL: 6, COMMENT: 7 } as const;

export function encodeSet(writer: MessageWriter, table: string, set: SetOrMap): void {
  writer
    .string(SetAttribute.TABLE, table)
    .string(SetAttribute.NAME, set.name)
    .u32BE(SetAttribute.FLAGS, flagBits(set))
    .u32BE(SetAttribute.KEY_TYPE, typeNumber(set.type))
    .u32BE(SetAttribute.KEY_LEN, dataSize(set.type));
  if (set.kind === 'map') {
    writer.u32BE(SetAttribute.DATA_TYPE, typeNumber(set.data)).u32BE(SetAttribute.DATA_LEN, dataSize(set.data));
  }
  // The kernel requires an id, although it finds a set by its name.
  writer.u32BE(SetAttribute.ID, set.id ?? 0);
  encodeDescription(writer, set);
  if (set.timeout !== undefined) writer.u64BE(SetAttribute.TIMEOUT, BigInt(set.timeout));
  if (set.gcInterval !== undefined) writer.u32BE(SetAttribute.GC_INTERVAL, set.gcInterval);
  writer.data(SetAttribute.USERDATA, setUserdata(set));
  if (set.counter) encodeExpression(writer, SetAttribute.EXPR, { kind: 'counter' });
}

function encodeDescription(writer: MessageWriter, set: SetOrMap): void {
  if (set.size === undefined && !isRangeConcatenation(set)) return;
  const description = writer.nest(SetAttribute.DESC);
  if (set.size !== undefined) writer.u32BE(SetDescAttribute.SIZE, set.size);
  if (isRangeConcatenation(set)) {
    const concatenation = writer.nest(SetDescAttribute.CONCAT);
    for (const size of fieldSizes(set.type)) {
      const field = writer.nest(NFTA_LIST_ELEM);
      writer.u32BE(SetFieldAttribute.LEN, size).close(field);
    }
    writer.close(concatenation);
  }
  writer.close(description);
}

/**
 * For these sets the kernel needs the sizes of the fields. It then chooses a set implementation that can split them.
 */
function isRangeConcatenation(set: SetOrMap): boolean {
  return set.type.length > 1 && (set.flags?.includes('interval') ?? false);
}

function setUserdata(set: SetOrMap): Buffer {
  const values: [number, Buffer | number][] = [[SetUserdata.KEY_BYTEORDER, byteOrder(set.type)]];
  if (set.kind === 'map') {
    values.push([SetUserdata.DATA_BYTEORDER, byteOrder(set.data)], [SetUserdata.DATA_INTERVAL, 0]);
  }
  if (set.comment !== undefined) values.push([SetUserdata.COMMENT, commentBytes(set.comment)]);
  return encodeUserdata(values);
}

function flagBits(set: SetOrMap): number {
  let bits = set.kind === 'map' ? FLAG_MAP : 0;
  for (const [flag, bit] of FLAGS) if (set.flags?.includes(flag)) bits |= bit;
  if (set.timeout !== undefined) bits |= FLAG_TIMEOUT;
  return isRangeConcatenation(set) ? bits | FLAG_CONCAT : bits;
}

/** Decodes a set or map and the name of its table. */
export function decodeSet(message: Message): { table: string; set: SetOrMap } | undefined {
  const attributes = attributeMap(message.body, NFGENMSG_LENGTH);
  const table = asString(attributes.get(SetAttribute.TABLE));
  const name = asString(attributes.get(SetAttribute.NAME));
  if (table === undefined || name === undefined) return undefined;
  const bits = asU32BE(attributes.get(SetAttribute.FLAGS)) ?? 0;
  const properties = { name, type: typesOf(asU32BE(attributes.get(SetAttribute.KEY_TYPE)) ?? 0) };
  const rest = decodeOptions(attributes, bits);
  if (!(bits & FLAG_MAP)) return { table, set: { kind: 'set', ...properties, ...rest } };
  const data = typesOf(asU32BE(attributes.get(SetAttribute.DATA_TYPE)) ?? 0);
  return { table, set: { kind: 'map', ...properties, data, ...rest } };
}

function decodeOptions(attributes: ReadonlyMap<number, Buffer>, bits: number): Omit<SetProperties, 'name' | 'type'> {
  const flags = FLAGS.filter(([, bit]) => bits & bit).map(([flag]) => flag);
  const timeout = asU64BE(attributes.get(SetAttribute.TIMEOUT));
  const gcInterval = asU32BE(attributes.get(SetAttribute.GC_INTERVAL));
  const size = asU32BE(attributeMap(attributes.get(SetAttribute.DESC) ?? NOTHING).get(SetDescAttribute.SIZE));
  const expression = attributes.get(SetAttribute.EXPR);
  const counter = expression !== undefined && decodeExpression(expression).kind === 'counter';
  const comment = commentText(decodeUserdata(attributes.get(SetAttribute.USERDATA)).get(SetUserdata.COMMENT));
  const handle = asU64BE(attributes.get(SetAttribute.HANDLE));
  return {
    ...(flags.length > 0 && { flags }),
    ...(timeout !== undefined && { timeout: Number(timeout) }),
    ...(gcInterval !== undefined && { gcInterval }),
    ...(size !== undefined && { size }),
    ...(counter && { counter }),
    ...(comment !== undefined && { comment }),
    ...(handle !== undefined && { handle: Number(handle) }),
  };
}

const NOTHING = Buffer.alloc(0);

/** The text after `add set ip table name` or `add map ip table name`. */
export function printSetBody(set: SetOrMap): string {
  const type = set.type.join(' . ');
  const parts = [`type ${set.kind === 'map' ? `${type} : ${set.data.join(' . ')}` : type} ;`];
  if (set.flags && set.flags.length > 0) parts.push(`flags ${set.flags.join(',')} ;`);
  if (set.timeout !== undefined) parts.push(`timeout ${printDuration(set.timeout)} ;`);
  if (set.gcInterval !== undefined) parts.push(`gc-interval ${printDuration(set.gcInterval)} ;`);
  if (set.size !== undefined) parts.push(`size ${set.size} ;`);
  if (set.counter) parts.push('counter ;');
  if (set.comment !== undefined) parts.push(`${printComment(set.comment).trimStart()} ;`);
  return ` { ${parts.join(' ')} }`;
}
