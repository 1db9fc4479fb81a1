import { type Family, type Ip, ipFromBytes } from '../net/index.ts';
import { asU8, attributeMap } from './netlink/index.ts';
import type { NetworkNamespace } from './netns.ts';
import { dumpSockets } from './sock-diag.ts';

/** Which sockets to list: those that receive what is sent to a port of this machine. */
export interface InetSocketFilter {
  readonly family: Family;
  readonly protocol: keyof typeof PROTOCOLS;
  readonly port: number;
}

/** A TCP or SCTP socket that listens, or a UDP socket that is connected to no peer. */
export interface InetSocket {
  readonly family: Family;
  readonly ip: Ip;
  readonly port: number;
  readonly inode: number;
  /** An IPv6 socket that receives no IPv4 packets. */
  readonly isV6Only: boolean;
}

const PROTOCOLS = { TCP: 6, UDP: 17, SCTP: 132 } as const;
const FAMILIES = { IPv4: 2, IPv6: 10 } as const;
/** The kernel gives a UDP socket without a peer the state CLOSE. */
const States = { CLOSE: 1 << 7, LISTEN: 1 << 10 } as const;
const NO_COOKIE = 0xffffffff;
const REQUEST_LENGTH = 56;
/** The length of `struct inet_diag_msg`, which stands before the attributes. */
const ANSWER_LENGTH = 72;
const INODE_OFFSET = 68;
const INET_DIAG_SKV6ONLY = 11;

/** The kernel compares the port, so the list is short. Undefined if this process cannot list sockets. */
export function listInetSockets(
  filter: InetSocketFilter,
  namespace?: NetworkNamespace,
): readonly InetSocket[] | undefined {
  const decode = (body: Buffer) => {
    const decoded = decodeInetSocket(body);
    return decoded?.port === filter.port ? decoded : undefined;
  };
  const operation = `list ${filter.protocol} sockets of port ${filter.port}`;
  return dumpSockets(operation, encodeRequest(filter), decode, namespace);
}

/** Writes `struct inet_diag_req_v2`. */
export function encodeRequest({ family, protocol, port }: InetSocketFilter): Buffer {
  const request = Buffer.alloc(REQUEST_LENGTH);
  request.writeUInt8(FAMILIES[family], 0);
  request.writeUInt8(PROTOCOLS[protocol], 1);
  request.writeUInt32LE(protocol === 'UDP' ? States.CLOSE : States.LISTEN, 4);
  request.writeUInt16BE(port, 8);
  request.writeUInt32LE(NO_COOKIE, 48);
  request.writeUInt32LE(NO_COOKIE, 52);
  return request;
}

/** Decodes `struct inet_diag_msg` and its attributes. */
export function decodeInetSocket(body: Buffer): InetSocket | undefined {
  if (body.length < ANSWER_LENGTH) return undefined;
  const family = body[0] === FAMILIES.IPv4 ? 'IPv4' : body[0] === FAMILIES.IPv6 ? 'IPv6' : undefined;
  const ip = ipFromBytes(body.subarray(8, family === 'IPv4' ? 12 : 24));
  if (family === undefined || ip === undefined) return undefined;
  return {
    family,
    ip,
    port: body.readUInt16BE(4),
    inode: body.readUInt32LE(INODE_OFFSET),
    isV6Only: asU8(attributeMap(body, ANSWER_LENGTH).get(INET_DIAG_SKV6ONLY)) === 1,
  };
}
