import { asString, asU64BE, attributeMap, type MessageWriter } from '../netlink/index.ts';

/** A named packet counter. iptables rules with `-m nfacct` increase it. */
export interface Counter {
  readonly name: string;
  readonly packets: bigint;
  readonly bytes: bigint;
}

/** Message types of the nfnetlink subsystem acct. */
const SUBSYSTEM = 7;
export const NfacctMessage = {
  NEW: (SUBSYSTEM << 8) | 0,
  GET: (SUBSYSTEM << 8) | 1,
} as const;

/** Attributes as in `linux/netfilter/nfnetlink_acct.h`. */
const Attribute = { NAME: 1, PKTS: 2, BYTES: 3 } as const;

/** In bytes. The kernel has 32 bytes for the name and its terminating zero byte. */
export const MAX_NAME_BYTES = 31;

const AF_UNSPEC = 0;
/** The length of `struct nfgenmsg`, which stands before the attributes. */
const NFGENMSG_LENGTH = 4;

/** Writes the body of a message about the counter with this name. */
export function encodeName(writer: MessageWriter, name: string): void {
  writer.struct(Buffer.from([AF_UNSPEC, 0, 0, 0])).string(Attribute.NAME, name);
}

export function decodeCounter(body: Buffer): Counter | undefined {
  const attributes = attributeMap(body, NFGENMSG_LENGTH);
  const name = asString(attributes.get(Attribute.NAME));
  const packets = asU64BE(attributes.get(Attribute.PKTS));
  const bytes = asU64BE(attributes.get(Attribute.BYTES));
  if (name === undefined || packets === undefined || bytes === undefined) return undefined;
  return { name, packets, bytes };
}
