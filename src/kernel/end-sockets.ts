import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Family, type Ip, ipBytes, joinHostPort } from '../net/index.ts';
import {
  type MessageWriter,
  NetlinkSocket,
  Protocol,
  type Request,
  refusalError,
  sendRequests,
} from './netlink/index.ts';
import type { NetworkNamespace } from './netns.ts';
import { SOCK_DIAG_BY_FAMILY } from './sock-diag.ts';

/** A TCP connection as the socket at one of its ends sees it. */
export interface TcpEnds {
  readonly family: Family;
  readonly local: { readonly ip: Ip; readonly port: number };
  readonly remote: { readonly ip: Ip; readonly port: number };
}

/** The kernel's number of a socket. No other socket gets it until the machine starts again. */
type Cookie = readonly [number, number];

/** Since Linux 4.5, if the kernel has CONFIG_INET_DIAG_DESTROY. */
const SOCK_DESTROY = 21;
const IPPROTO_TCP = 6;
const FAMILIES = { IPv4: 2, IPv6: 10 } as const;
const LISTEN = 10;
const NO_COOKIE: Cookie = [0xffffffff, 0xffffffff];
const REQUEST_LENGTH = 56;
const ANSWER_LENGTH = 72;
/** The kernel sends TCP RST within the call. So this limits how long other work waits. */
const SOCKETS_PER_SEND = 50;

/**
 * Ends the sockets of these connections in one network namespace, and returns the connections whose socket it ended. The
 * program that has the socket gets ECONNABORTED, and the kernel sends TCP RST to the other end. Needs CAP_NET_ADMIN in
 * the namespace.
 *
 * If no socket has these ends, the kernel finds a socket that listens at the local address instead. So this function asks
 * for the sockets first, and then names each by its cookie.
 */
export async function endSockets<T extends TcpEnds>(
  connections: readonly T[],
  namespace: NetworkNamespace | undefined,
): Promise<readonly T[]> {
  const socket = NetlinkSocket.open(Protocol.SOCK_DIAG, { namespace });
  const ended: T[] = [];
  try {
    for (let from = 0; from < connections.length; from += SOCKETS_PER_SEND) {
      if (from > 0) await nextTurn();
      const found = await findSockets(socket, connections.slice(from, from + SOCKETS_PER_SEND));
      const requests = found.map(({ ends, cookie }) => request(SOCK_DESTROY, 'ss --kill', ends, cookie));
      const { refusals } = await sendRequests(socket, requests);
      for (const ack of refusals.values()) if (!isGone(ack.errno)) throw refusalError('ss --kill', ack);
      for (const [index, { ends }] of found.entries()) if (!refusals.has(index)) ended.push(ends);
    }
    return ended;
  } finally {
    socket.close();
  }
}

interface FoundSocket<T> {
  readonly ends: T;
  readonly cookie: Cookie;
}

async function findSockets<T extends TcpEnds>(
  socket: NetlinkSocket,
  connections: readonly T[],
): Promise<readonly FoundSocket<T>[]> {
  const requests = connections.map(ends => request(SOCK_DIAG_BY_FAMILY, 'ss', ends, NO_COOKIE));
  const { refusals, messages } = await sendRequests(socket, requests);
  for (const ack of refusals.values()) if (!isGone(ack.errno)) throw refusalError('ss', ack);
  const found: FoundSocket<T>[] = [];
  for (const { request, body } of messages) {
    const ends = connections[request];
    const cookie = decodeCookie(body);
    if (ends && cookie) found.push({ ends, cookie });
  }
  return found;
}

function request(type: number, command: string, ends: TcpEnds, cookie: Cookie): Request {
  const { local, remote } = ends;
  return {
    operation: `${command} src ${joinHostPort(local.ip, local.port)} dst ${joinHostPort(remote.ip, remote.port)}`,
    type,
    flags: 0,
    write: (writer: MessageWriter) => void writer.struct(encodeEnds(ends, cookie)),
  };
}

/** Writes `struct inet_diag_req_v2`. An IPv4 request also finds an IPv6 socket that speaks IPv4. */
export function encodeEnds({ family, local, remote }: TcpEnds, [low, high]: Cookie = NO_COOKIE): Buffer {
  const bytes = Buffer.alloc(REQUEST_LENGTH);
  bytes.writeUInt8(FAMILIES[family], 0);
  bytes.writeUInt8(IPPROTO_TCP, 1);
  // The kernel ignores the states if the request names one socket.
  bytes.writeUInt32LE(0xffffffff, 4);
  bytes.writeUInt16BE(local.port, 8);
  bytes.writeUInt16BE(remote.port, 10);
  bytes.set(ipBytes(local.ip), 12);
  bytes.set(ipBytes(remote.ip), 28);
  bytes.writeUInt32LE(low, 48);
  bytes.writeUInt32LE(high, 52);
  return bytes;
}

/** Reads the cookie from `struct inet_diag_msg`. Undefined for a socket that listens. */
export function decodeCookie(body: Buffer): Cookie | undefined {
  if (body.length < ANSWER_LENGTH || body[1] === LISTEN) return undefined;
  return [body.readUInt32LE(44), body.readUInt32LE(48)];
}

/** The socket does not exist, is a new one with the same ends, or has ended by itself. */
function isGone(errno: string | undefined): boolean {
  return errno === 'ENOENT' || errno === 'ESTALE';
}
