import { type Family, familyOf, type Ip, ipBytes, ipFromBytes, isLoopback } from '../../net/index.ts';
import { asString, asU32, attributeMap, type MessageWriter } from '../netlink/index.ts';
import { addressLength, familyNumber } from './families.ts';
import type { LinkRef } from './link.ts';

export const AddressMessage = { NEW: 20, DEL: 21, GET: 22 } as const;

const Attribute = { ADDRESS: 1, LOCAL: 2, LABEL: 3, FLAGS: 8 } as const;

export const AddressFlag = { NODAD: 0x02, DADFAILED: 0x08, TENTATIVE: 0x40, PERMANENT: 0x80 } as const;

export const Scope = { GLOBAL: 0, LINK: 253, HOST: 254, NOWHERE: 255 } as const;

const HEADER = 8;

export interface NewAddress {
  readonly ip: Ip;
  readonly prefix: number;
  /** Only for IPv6: use the address at once, without a check for duplicates on the network. */
  readonly nodad?: boolean;
}

export interface Address {
  readonly ip: Ip;
  readonly prefix: number;
  /** The index of the link that has the address. */
  readonly index: number;
  readonly scope: number;
  readonly flags: number;
  /** Only for IPv4: the link's name, or an alias that begins with it. */
  readonly label: string | undefined;
}

export interface AddressFilter {
  readonly family?: Family;
  readonly link?: LinkRef;
}

type Verb = 'add' | 'replace' | 'del';

export function encodeAddress(writer: MessageWriter, verb: Verb, link: LinkRef, address: NewAddress): void {
  const { ip, prefix, nodad } = address;
  const header = addressHeader(familyNumber(familyOf(ip)), link.index);
  header[1] = prefix;
  header[2] = nodad && verb !== 'del' ? AddressFlag.NODAD : 0;
  header[3] = verb !== 'del' && isLoopback(ip) && familyOf(ip) === 'IPv4' ? Scope.HOST : Scope.GLOBAL;
  const bytes = ipBytes(ip);
  writer.struct(header).data(Attribute.LOCAL, bytes).data(Attribute.ADDRESS, bytes);
}

/** Writes a request for addresses. Kernels before 4.20 ignore the filter and answer with all addresses. */
export function encodeGetAddresses(writer: MessageWriter, filter: AddressFilter): void {
  writer.struct(addressHeader(filter.family ? familyNumber(filter.family) : 0, filter.link?.index ?? 0));
}

/** Decodes RTM_NEWADDR and RTM_DELADDR. Returns undefined if the address is neither IPv4 nor IPv6. */
export function decodeAddress(body: Buffer): Address | undefined {
  const length = addressLength(body[0]);
  if (body.length < HEADER || !length) return undefined;
  const attributes = attributeMap(body, HEADER);
  // On a point-to-point link ADDRESS is the peer's address. Most IPv6 addresses have no LOCAL.
  const bytes = attributes.get(Attribute.LOCAL) ?? attributes.get(Attribute.ADDRESS);
  const ip = bytes?.length === length ? ipFromBytes(bytes) : undefined;
  if (!ip) return undefined;
  return {
    ip,
    prefix: body.readUInt8(1),
    index: body.readUInt32LE(4),
    scope: body.readUInt8(3),
    // The header has space only for the first eight flags.
    flags: asU32(attributes.get(Attribute.FLAGS)) ?? body.readUInt8(2),
    label: asString(attributes.get(Attribute.LABEL)),
  };
}

export function printAddress(verb: Verb, link: LinkRef, { ip, prefix, nodad }: NewAddress): string {
  return `ip addr ${verb} ${ip}/${prefix} dev ${link.name}${nodad && verb !== 'del' ? ' nodad' : ''}`;
}

export function printGetAddresses({ family, link }: AddressFilter): string {
  const option = family ? ` -${family.slice(-1)}` : '';
  return `ip${option} addr show${link ? ` dev ${link.name}` : ''}`;
}

/** `struct ifaddrmsg`. */
function addressHeader(family: number, index: number): Buffer {
  const header = Buffer.alloc(HEADER);
  header[0] = family;
  header.writeUInt32LE(index, 4);
  return header;
}
