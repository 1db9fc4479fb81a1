import type { MessageWriter } from '../netlink/index.ts';

/** Message types of the nfnetlink subsystem ipset. */
const SUBSYSTEM = 6;
export const IpsetMessage = {
  PROTOCOL: (SUBSYSTEM << 8) | 1,
  CREATE: (SUBSYSTEM << 8) | 2,
  DESTROY: (SUBSYSTEM << 8) | 3,
  FLUSH: (SUBSYSTEM << 8) | 4,
  RENAME: (SUBSYSTEM << 8) | 5,
  SWAP: (SUBSYSTEM << 8) | 6,
  LIST: (SUBSYSTEM << 8) | 7,
  ADD: (SUBSYSTEM << 8) | 9,
  DEL: (SUBSYSTEM << 8) | 10,
  TEST: (SUBSYSTEM << 8) | 11,
  TYPE: (SUBSYSTEM << 8) | 13,
} as const;

/** Attributes of a message, as in `linux/netfilter/ipset/ip_set.h`. */
export const Attr = {
  PROTOCOL: 1,
  SETNAME: 2,
  TYPENAME: 3,
  /** Only in rename and swap. */
  SETNAME2: 3,
  REVISION: 4,
  FAMILY: 5,
  FLAGS: 6,
  DATA: 7,
  ADT: 8,
  LINENO: 9,
  PROTOCOL_MIN: 10,
  /** Only in the answer to TYPE. */
  REVISION_MIN: 10,
} as const;

/** Attributes inside DATA, of a set and of an entry. */
export const Data = {
  IP: 1,
  CIDR: 3,
  PORT: 4,
  PORT_TO: 5,
  TIMEOUT: 6,
  PROTO: 7,
  FLAGS: 8,
  LINENO: 9,
  // Only in sets.
  INITVAL: 17,
  HASHSIZE: 18,
  MAXELEM: 19,
  NETMASK: 20,
  BUCKETSIZE: 21,
  ELEMENTS: 24,
  REFERENCES: 25,
  MEMSIZE: 26,
  // Only in entries.
  IP2: 20,
  CIDR2: 21,
  BYTES: 24,
  PACKETS: 25,
  COMMENT: 26,
} as const;

/** The flag in an attribute's type for network byte order. The kernel requires it on numbers of more than one byte. */
export const NET_BYTEORDER = 0x4000;

/** Kernels since 4.20 know protocol 7. All kernels know protocol 6, which has everything that this folder uses. */
export const PROTOCOL_VERSION = 7;
export const PROTOCOL_OLDEST = 6;

const AF_INET = 2;

/** The length of `struct nfgenmsg`, which stands before the attributes. */
export const NFGENMSG_LENGTH = 4;

/** Writes the beginning of every message. Its family has no meaning, because the family of a set is an attribute. */
export function encodeHead(writer: MessageWriter, protocol: number): void {
  writer.struct(Buffer.from([AF_INET, 0, 0, 0])).u8(Attr.PROTOCOL, protocol);
}
