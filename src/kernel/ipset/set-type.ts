import type { Family } from '../../net/index.ts';
import { asU8, attributeMap, type MessageWriter } from '../netlink/index.ts';
import { Attr, encodeHead, NFGENMSG_LENGTH } from './message.ts';

/** The set types that this folder supports, each with the highest supported revision. */
const REVISIONS = {
  'hash:ip': 6,
  'hash:ip,port': 7,
  'hash:ip,port,ip': 6,
  'hash:ip,port,net': 8,
  'hash:net': 7,
  'bitmap:port': 3,
} as const;

export type SetType = keyof typeof REVISIONS;

export const SET_TYPES = Object.keys(REVISIONS).filter(isSetType);

export function isSetType(type: string): type is SetType {
  return Object.hasOwn(REVISIONS, type);
}

/** The revisions of a set type that a kernel knows. */
export interface RevisionRange {
  readonly max: number;
  readonly min: number;
}

const AF_UNSPEC = 0;
const AF_INET = 2;
const AF_INET6 = 10;

/** A set of ports has no family. */
export function familyNumber(family: Family | undefined): number {
  if (family === undefined) return AF_UNSPEC;
  return family === 'IPv4' ? AF_INET : AF_INET6;
}

export function familyFromNumber(number: number | undefined): Family | undefined {
  if (number === AF_INET) return 'IPv4';
  return number === AF_INET6 ? 'IPv6' : undefined;
}

/**
 * Writes the request for the revisions of a type that the kernel knows. The kernel loads the type's module if needed.
 */
export function encodeType(writer: MessageWriter, protocol: number, type: SetType, family: Family | undefined): void {
  encodeHead(writer, protocol);
  writer.string(Attr.TYPENAME, type).u8(Attr.FAMILY, familyNumber(family));
}

export function decodeType(body: Buffer): RevisionRange | undefined {
  const attributes = attributeMap(body, NFGENMSG_LENGTH);
  const max = asU8(attributes.get(Attr.REVISION));
  const min = asU8(attributes.get(Attr.REVISION_MIN));
  return max === undefined || min === undefined ? undefined : { max, min };
}

/** The highest revision that both the kernel and this folder know. Undefined if there is none. */
export function commonRevision(type: SetType, { max, min }: RevisionRange): number | undefined {
  const revision = Math.min(max, REVISIONS[type]);
  return revision >= min ? revision : undefined;
}
