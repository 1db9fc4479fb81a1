import { asString, asU32, attributeMap, type MessageWriter } from '../netlink/index.ts';

export const LinkMessage = { NEW: 16, DEL: 17, GET: 18 } as const;

export const LinkAttribute = {
  ADDRESS: 1,
  IFNAME: 3,
  MTU: 4,
  LINK: 5,
  MASTER: 10,
  TXQLEN: 13,
  LINKINFO: 18,
  NET_NS_FD: 28,
  EXT_MASK: 29,
  ALT_IFNAME: 53,
} as const;

export const LinkFlag = {
  UP: 0x1,
  BROADCAST: 0x2,
  LOOPBACK: 0x8,
  RUNNING: 0x40,
  NOARP: 0x80,
  MULTICAST: 0x1000,
} as const;

const INFO_KIND = 1;
const HEADER = 16;
/** Leaves out statistics, which are most of an answer, and virtual functions, which can overflow a message. */
const EXT_MASK_SKIP_STATISTICS = 8;
const MAX_NAME_BYTES = 15;

/** Identifies a link in a request. The kernel uses the index. The name is for messages. */
export interface LinkRef {
  readonly index: number;
  readonly name: string;
}

export interface Link extends LinkRef {
  /** `dummy`, `veth`, `bridge`. Undefined for hardware and lo. */
  readonly kind: string | undefined;
  readonly flags: number;
  readonly mtu: number;
  readonly txqlen: number;
  /** The hardware address as `ce:2a:84:6b:17:43`. */
  readonly address: string;
  /** The index of the bridge whose port this link is. */
  readonly master: number | undefined;
  /** The index of the associated link: the peer of a veth, possibly in another namespace. */
  readonly link: number | undefined;
}

/** `struct ifinfomsg` without an address family. */
export function linkHeader(index = 0, flags = 0, change = 0): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeInt32LE(index, 4);
  header.writeUInt32LE(flags, 8);
  header.writeUInt32LE(change, 12);
  return header;
}

export function encodeGetLink(writer: MessageWriter, name?: string): void {
  writer.struct(linkHeader()).u32(LinkAttribute.EXT_MASK, EXT_MASK_SKIP_STATISTICS);
  if (name === undefined) return;
  // A longer name can only be an alternative name. Kernels support those since 5.5.
  const alternative = Buffer.byteLength(name) > MAX_NAME_BYTES;
  writer.string(alternative ? LinkAttribute.ALT_IFNAME : LinkAttribute.IFNAME, name);
}

/**
 * Decodes RTM_NEWLINK and RTM_DELLINK. Returns undefined for messages with an address family: a bridge sends such a
 * RTM_DELLINK when a link is no longer its port, and the link still exists.
 */
export function decodeLink(body: Buffer): Link | undefined {
  if (body.length < HEADER || body[0] !== 0) return undefined;
  const attributes = attributeMap(body, HEADER);
  const name = asString(attributes.get(LinkAttribute.IFNAME));
  if (!name) return undefined;
  const info = attributes.get(LinkAttribute.LINKINFO);
  return {
    index: body.readInt32LE(4),
    name,
    kind: info && asString(attributeMap(info).get(INFO_KIND)),
    flags: body.readUInt32LE(8),
    mtu: asU32(attributes.get(LinkAttribute.MTU)) ?? 0,
    txqlen: asU32(attributes.get(LinkAttribute.TXQLEN)) ?? 0,
    address: hardwareAddress(attributes.get(LinkAttribute.ADDRESS)),
    master: asU32(attributes.get(LinkAttribute.MASTER)),
    link: asU32(attributes.get(LinkAttribute.LINK)),
  };
}

export function encodeDeleteLink(writer: MessageWriter, link: LinkRef): void {
  writer.struct(linkHeader(link.index));
}

export function printGetLink(name?: string): string {
  return name === undefined ? 'ip link show' : `ip link show ${name}`;
}

export function printDeleteLink(link: LinkRef): string {
  return `ip link del ${link.name}`;
}

function hardwareAddress(bytes: Buffer | undefined): string {
  return Array.from(bytes ?? [], byte => byte.toString(16).padStart(2, '0')).join(':');
}
