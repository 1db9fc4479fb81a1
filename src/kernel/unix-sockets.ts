import { asU32, attributeMap } from './netlink/index.ts';
import type { NetworkNamespace } from './netns.ts';
import { dumpSockets } from './sock-diag.ts';

/** A unix socket with an abstract name. */
export interface AbstractSocket {
  /** Without the zero byte in front. */
  readonly name: string;
  readonly inode: number;
  /** The user that opened the socket, as our user namespace numbers it. Undefined if the kernel is older than 5.3. */
  readonly uid: number | undefined;
}

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const ALL_STATES = 0xffffffff;
const NO_COOKIE = 0xffffffff;
/** As in `linux/unix_diag.h`. */
const Show = { NAME: 0x01, UID: 0x40 } as const;
const Attribute = { NAME: 0, UID: 7 } as const;
const REQUEST_LENGTH = 24;
/** The length of `struct unix_diag_msg`, which stands before the attributes. */
const ANSWER_LENGTH = 16;

/**
 * The stream sockets of the network namespace that have an abstract name. Undefined if this process cannot list them.
 */
export function listAbstractSockets(namespace?: NetworkNamespace): readonly AbstractSocket[] | undefined {
  return dumpSockets('list unix sockets', encodeRequest(), decodeAbstractSocket, namespace);
}

/** Writes `struct unix_diag_req`. */
export function encodeRequest(): Buffer {
  const request = Buffer.alloc(REQUEST_LENGTH);
  request.writeUInt8(AF_UNIX, 0);
  request.writeUInt32LE(ALL_STATES, 4);
  request.writeUInt32LE(Show.NAME | Show.UID, 12);
  request.writeUInt32LE(NO_COOKIE, 16);
  request.writeUInt32LE(NO_COOKIE, 20);
  return request;
}

/** Returns undefined for any other socket than a stream socket with an abstract name. */
export function decodeAbstractSocket(body: Buffer): AbstractSocket | undefined {
  if (body.length < ANSWER_LENGTH || body[0] !== AF_UNIX || body[1] !== SOCK_STREAM) return undefined;
  const attributes = attributeMap(body, ANSWER_LENGTH);
  const name = attributes.get(Attribute.NAME);
  if (name?.[0] !== 0) return undefined;
  return {
    name: name.toString('utf8', 1),
    inode: body.readUInt32LE(4),
    uid: asU32(attributes.get(Attribute.UID)),
  };
}
