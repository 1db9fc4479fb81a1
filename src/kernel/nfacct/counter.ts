import { asString, asU64BE, attributeMap, type MessageWriter } from '../netlink/index.ts';

/** A named counter of packets that rules with `-m nfacct` count in. */
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

/** As in `linux/netfilter/nfnetlink_acct.h`. */
const Attribute = { NAME: 1, PKTS: 2, BYTES: 3 } as const;

/** With the terminating zero byte it must fit into 32 bytes. */
export const LONGEST_NAME = 31;

const AF_UNSPEC = 0;
/** Bytes of `struct nfgenmsg` before the attributes. */
const GENERIC_HEADER = 4;

/** The counter that a message is about. */
export function encodeName(writer: MessageWriter, name: string): void {
  writer.struct(Buffer.from([AF_UNSPEC, 0, 0, 0])).string(Attribute.NAME, name);
}

export function decodeCounter(body: Buffer): Counter | undefined {
  const attributes = attributeMap(body, GENERIC_HEADER);
  const name = asString(attributes.get(Attribute.NAME));
  const packets = asU64BE(attributes.get(Attribute.PKTS));
  const bytes = asU64BE(attributes.get(Attribute.BYTES));
  if (name === undefined || packets === undefined || bytes === undefined) return undefined;
  return { name, packets, bytes };
}
