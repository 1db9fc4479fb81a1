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
  /** of rename and swap */
  SETNAME2: 3,
  REVISION: 4,
  FAMILY: 5,
  FLAGS: 6,
  DATA: 7,
  ADT: 8,
  LINENO: 9,
  PROTOCOL_MIN: 10,
  /** of the answer to TYPE */
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
  // of a set
  INITVAL: 17,
  HASHSIZE: 18,
  MAXELEM: 19,
  NETMASK: 20,
  BUCKETSIZE: 21,
  ELEMENTS: 24,
  REFERENCES: 25,
  MEMSIZE: 26,
  // of an entry
  IP2: 20,
  CIDR2: 21,
  BYTES: 24,
  PACKETS: 25,
  COMMENT: 26,
} as const;

/** Numbers of more than a byte say in their type that they are in network byte order; the kernel insists. */
export const NET_BYTEORDER = 0x4000;

/** The protocol that is spoken. Kernels since 4.20 know it; they and all before know 6, which lacks nothing used here. */
export const PROTOCOL_VERSION = 7;
export const PROTOCOL_OLDEST = 6;

const AF_INET = 2;

/** Bytes of `struct nfgenmsg` before the attributes. */
export const NFGENMSG_LENGTH = 4;

/** What every message begins with. The family says nothing here: that of a set is an attribute. */
export function encodeHead(writer: MessageWriter, protocol: number): void {
  writer.struct(Buffer.from([AF_INET, 0, 0, 0])).u8(Attr.PROTOCOL, protocol);
}
