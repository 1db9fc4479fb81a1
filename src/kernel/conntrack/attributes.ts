/** Message types of the nfnetlink subsystem ctnetlink. */
const SUBSYSTEM = 1;
export const CtMessage = {
  NEW: (SUBSYSTEM << 8) | 0,
  GET: (SUBSYSTEM << 8) | 1,
  DELETE: (SUBSYSTEM << 8) | 2,
  GET_STATS: (SUBSYSTEM << 8) | 5,
} as const;

/** Attributes as in `linux/netfilter/nfnetlink_conntrack.h`. */
export const Cta = {
  TUPLE_ORIG: 1,
  TUPLE_REPLY: 2,
  STATUS: 3,
  PROTOINFO: 4,
  TIMEOUT: 7,
  MARK: 8,
  COUNTERS_ORIG: 9,
  COUNTERS_REPLY: 10,
  ID: 12,
  ZONE: 18,
  MARK_MASK: 21,
  FILTER: 25,
} as const;

export const CtaTuple = { IP: 1, PROTO: 2, ZONE: 3 } as const;

export const CtaIp = { V4_SRC: 1, V4_DST: 2, V6_SRC: 3, V6_DST: 4 } as const;

export const CtaProto = {
  NUM: 1,
  SRC_PORT: 2,
  DST_PORT: 3,
  ICMP_ID: 4,
  ICMP_TYPE: 5,
  ICMP_CODE: 6,
  ICMPV6_ID: 7,
  ICMPV6_TYPE: 8,
  ICMPV6_CODE: 9,
} as const;

/** Removes the bits for nesting and byte order from an attribute's type. */
export const TYPE_MASK = 0x3fff;
