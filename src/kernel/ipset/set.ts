import type { Family } from '../../net/index.ts';
import { asString, asU8, asU16BE, asU32BE, attributeMap, type MessageWriter } from '../netlink/index.ts';
import { Attr, Data, encodeHead, NET_BYTEORDER, NFGENMSG_LENGTH } from './message.ts';
import { familyFromNumber, familyNumber, type SetType } from './set-type.ts';

/** A set to create. The kernel chooses the options that are left out. */
export interface IpSet {
  readonly name: string;
  readonly type: SetType;
  /** Only for hash types. */
  readonly family?: Family | undefined;
  readonly hashsize?: number | undefined;
  readonly maxelem?: number | undefined;
  /** Only for hash:ip: the entries are networks of this prefix length. */
  readonly netmask?: number | undefined;
  /** Only for bitmap:port. */
  readonly range?: { readonly from: number; readonly to: number } | undefined;
  /** The default timeout of entries in seconds. 0 means forever. */
  readonly timeout?: number | undefined;
  readonly counters?: boolean | undefined;
  readonly comment?: boolean | undefined;
  /** Since Linux 5.11. */
  readonly bucketsize?: number | undefined;
  /** The seed of the hash. It can be set since Linux 5.11. */
  readonly initval?: number | undefined;
}

/** A set as the kernel lists it. It has all options, and its type may be one that this folder does not support. */
export interface ListedSet extends Omit<IpSet, 'type'> {
  readonly type: string;
}

/** A listed set with the kernel's numbers about its use. */
export interface SetHeader extends ListedSet {
  readonly revision: number;
  readonly references: number;
  readonly memsize: number;
  readonly elements: number;
}

const WITH_COUNTERS = 1 << 3;
const WITH_COMMENT = 1 << 4;

/** Writes the body of CREATE. */
export function encodeCreate(writer: MessageWriter, protocol: number, set: IpSet, revision: number): void {
  encodeHead(writer, protocol);
  writer.string(Attr.SETNAME, set.name).string(Attr.TYPENAME, set.type);
  writer.u8(Attr.REVISION, revision).u8(Attr.FAMILY, familyNumber(set.family));
  const data = writer.nest(Attr.DATA);
  const u32 = (type: number, value: number | undefined) => {
    if (value !== undefined) writer.u32BE(type | NET_BYTEORDER, value);
  };
  if (set.range) {
    writer.u16BE(Data.PORT | NET_BYTEORDER, set.range.from).u16BE(Data.PORT_TO | NET_BYTEORDER, set.range.to);
  }
  u32(Data.TIMEOUT, set.timeout);
  const flags = (set.counters ? WITH_COUNTERS : 0) | (set.comment ? WITH_COMMENT : 0);
  u32(Data.FLAGS, flags || undefined);
  u32(Data.INITVAL, set.initval);
  u32(Data.HASHSIZE, set.hashsize);
  u32(Data.MAXELEM, set.maxelem);
  if (set.netmask !== undefined) writer.u8(Data.NETMASK, set.netmask);
  if (set.bucketsize !== undefined) writer.u8(Data.BUCKETSIZE, set.bucketsize);
  writer.close(data);
}

/** Decodes the first message of a set in a list. Returns undefined for messages that continue with its entries. */
export function decodeSet(body: Buffer): ListedSet | undefined {
  const attributes = attributeMap(body, NFGENMSG_LENGTH);
  const name = asString(attributes.get(Attr.SETNAME));
  const type = asString(attributes.get(Attr.TYPENAME));
  const nested = attributes.get(Attr.DATA);
  if (name === undefined || type === undefined || !nested) return undefined;
  const data = attributeMap(nested);
  const from = asU16BE(data.get(Data.PORT));
  const to = asU16BE(data.get(Data.PORT_TO));
  const flags = asU32BE(data.get(Data.FLAGS)) ?? 0;
  return {
    name,
    type,
    family: familyFromNumber(asU8(attributes.get(Attr.FAMILY))),
    hashsize: asU32BE(data.get(Data.HASHSIZE)),
    maxelem: asU32BE(data.get(Data.MAXELEM)),
    netmask: asU8(data.get(Data.NETMASK)),
    range: from === undefined || to === undefined ? undefined : { from, to },
    timeout: asU32BE(data.get(Data.TIMEOUT)),
    counters: (flags & WITH_COUNTERS) !== 0,
    comment: (flags & WITH_COMMENT) !== 0,
    bucketsize: asU8(data.get(Data.BUCKETSIZE)),
    initval: asU32BE(data.get(Data.INITVAL)),
  };
}

/** The same as `decodeSet`, with the kernel's numbers about the set's use. */
export function decodeHeader(body: Buffer): SetHeader | undefined {
  const set = decodeSet(body);
  if (!set) return undefined;
  const attributes = attributeMap(body, NFGENMSG_LENGTH);
  const data = attributeMap(attributes.get(Attr.DATA) ?? Buffer.alloc(0));
  return {
    ...set,
    revision: asU8(attributes.get(Attr.REVISION)) ?? 0,
    references: asU32BE(data.get(Data.REFERENCES)) ?? 0,
    memsize: asU32BE(data.get(Data.MEMSIZE)) ?? 0,
    elements: asU32BE(data.get(Data.ELEMENTS)) ?? 0,
  };
}

/** `create KUBE-CLUSTER-IP hash:ip,port family inet hashsize 1024 maxelem 65536` */
export function printCreate(set: IpSet | ListedSet): string {
  const words = ['create', set.name, set.type];
  const option = (name: string, value: number | string | undefined) => {
    if (value !== undefined) words.push(name, String(value));
  };
  option('range', set.range && `${set.range.from}-${set.range.to}`);
  option('family', set.family && (set.family === 'IPv4' ? 'inet' : 'inet6'));
  option('hashsize', set.hashsize);
  option('maxelem', set.maxelem);
  option('netmask', set.netmask);
  option('timeout', set.timeout);
  if (set.counters) words.push('counters');
  if (set.comment) words.push('comment');
  option('bucketsize', set.bucketsize);
  option('initval', set.initval === undefined ? undefined : `0x${set.initval.toString(16).padStart(8, '0')}`);
  return words.join(' ');
}
