import { HEADER_LENGTH, type Message, type MessageWriter } from '../netlink/index.ts';
import { familyFromNumber, familyNumbers, type NftFamily } from './family.ts';

/** NFNL_SUBSYS_NFTABLES, the upper byte of a message's type. */
export const SUBSYSTEM = 10;

/** NFT_MSG_*, the lower byte. */
export const NftMessage = {
  NEWTABLE: 0,
  GETTABLE: 1,
  DELTABLE: 2,
  NEWCHAIN: 3,
  GETCHAIN: 4,
  DELCHAIN: 5,
  NEWRULE: 6,
  GETRULE: 7,
  DELRULE: 8,
  NEWSET: 9,
  GETSET: 10,
  DELSET: 11,
  NEWSETELEM: 12,
  GETSETELEM: 13,
  DELSETELEM: 14,
  NEWGEN: 15,
  GETGEN: 16,
  TRACE: 17,
} as const;

/** NFNL_MSG_BATCH_*. The kernel applies all messages between these two, or none. */
export const BATCH_BEGIN = 0x10;
export const BATCH_END = 0x11;

/** The attributes begin after `nfgenmsg`. The first offset is within the body, the second within the message. */
export const NFGENMSG_LENGTH = 4;
export const ATTRIBUTES_OFFSET = HEADER_LENGTH + NFGENMSG_LENGTH;

export function messageType(type: number): number {
  return (SUBSYSTEM << 8) | type;
}

/** NFT_MSG_* of a message. Undefined if the message is of another subsystem. */
export function nftMessageOf(message: Message): number | undefined {
  return message.type >> 8 === SUBSYSTEM ? message.type & 0xff : undefined;
}

const heads: Readonly<Record<NftFamily, Buffer>> = {
  ip: nfgenmsg(familyNumbers.ip, 0),
  ip6: nfgenmsg(familyNumbers.ip6, 0),
  inet: nfgenmsg(familyNumbers.inet, 0),
};
/** The `res_id` of a batch names its subsystem. */
export const BATCH_HEAD = nfgenmsg(0, SUBSYSTEM);
/** For requests without a family, or for all families. */
export const UNSPECIFIED_HEAD = nfgenmsg(0, 0);

/** `struct nfgenmsg` for an object of the family. */
export function familyHead(family: NftFamily): Buffer {
  return heads[family];
}

/** Returns undefined for unsupported families, and for bodies that are too short. */
export function familyIn(body: Buffer): NftFamily | undefined {
  const number = body.length >= NFGENMSG_LENGTH ? body[0] : undefined;
  return number === undefined ? undefined : familyFromNumber(number);
}

/** Begins a message about an object of the family. The caller must call `end`. */
export function beginMessage(
  writer: MessageWriter,
  type: number,
  flags: number,
  sequence: number,
  family: NftFamily,
): void {
  writer.begin(messageType(type), flags, sequence).struct(heads[family]);
}

function nfgenmsg(family: number, resource: number): Buffer {
  return Buffer.from([family, 0, resource >> 8, resource & 0xff]);
}
