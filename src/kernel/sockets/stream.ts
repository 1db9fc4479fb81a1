import { type Family, type Ip, joinHostPort } from '../../net/index.ts';
import {
  accept4,
  check,
  close,
  connect,
  errnoName,
  lastErrno,
  listen,
  recv,
  send,
  setsockopt,
  shutdown,
} from '../libc.ts';
import type { NetworkNamespace } from '../netns.ts';
import { closeOnError, SOCK_NONBLOCK_CLOEXEC, SOL_SOCKET } from './descriptor.ts';
import { getOption, openBound, openRaw, setOption } from './raw-socket.ts';

const SO_ERROR = 4;
const SO_KEEPALIVE = 9;
const SO_LINGER = 13;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
const TCP_KEEPIDLE = 4;
const TCP_KEEPINTVL = 5;
const TCP_KEEPCNT = 6;
/** The kernel ends the connection after this many probes without an answer. */
const KEEP_ALIVE_PROBES = 4;
const TCP_USER_TIMEOUT = 18;
const MSG_NOSIGNAL = 0x4000;
const SHUT_WR = 1;
/** The kernel reduces this to `net.core.somaxconn`. */
const BACKLOG = 65535;

export const EAGAIN = 11;
export const EINPROGRESS = 115;

export interface StreamOptions {
  /** If a connection is idle this long, the kernel sends a probe to the peer, and repeats it in the same interval. */
  readonly keepAliveSeconds: number;
}

/** Opens a listening socket. Accepted connections inherit its options. */
export function listenStream(
  namespace: NetworkNamespace | undefined,
  family: Family,
  ip: Ip,
  port: number,
  options: StreamOptions,
): number {
  return closeOnError(openBound(namespace, family, 'TCP', ip, port, { reuse: true }), fd => {
    setStreamOptions(fd, options);
    check(listen(fd, BACKLOG), `listen on TCP ${joinHostPort(ip, port)}`);
    return fd;
  });
}

const peerLength = Buffer.alloc(4);

/** Accepts a connection. Returns its descriptor, or a negative errno. Writes the client's sockaddr into `peer`. */
export function acceptStream(fd: number, peer: Buffer): number {
  peerLength.writeUInt32LE(peer.length);
  const accepted = accept4(fd, peer, peerLength, SOCK_NONBLOCK_CLOEXEC);
  return accepted >= 0 ? accepted : -lastErrno();
}

/** Begins to connect. When the descriptor becomes writable, `connectResult` returns the outcome. */
export function connectStream(
  namespace: NetworkNamespace | undefined,
  family: Family,
  address: Buffer,
  options: StreamOptions,
): number {
  return closeOnError(openRaw(namespace, family, 'TCP'), fd => {
    setStreamOptions(fd, options);
    const result = connect(fd, address, address.length);
    if (result < 0 && lastErrno() !== EINPROGRESS) check(result, 'connect a TCP socket');
    return fd;
  });
}

/** Undefined if the socket is connected, otherwise the errno's name: `ECONNREFUSED`. */
export function connectResult(fd: number): string | undefined {
  const error = getOption(fd, SOL_SOCKET, SO_ERROR);
  return error === 0 ? undefined : errnoName(error);
}

/** Reads bytes into the buffer. Returns how many, 0 at the end of the stream, or a negative errno. */
export function receive(fd: number, buffer: Buffer): number {
  const count = recv(fd, buffer, buffer.length, 0);
  return count >= 0 ? count : -lastErrno();
}

/** Sends bytes. Returns how many the kernel accepted, or a negative errno. */
export function transmit(fd: number, bytes: Buffer, length: number): number {
  const count = send(fd, bytes, length, MSG_NOSIGNAL);
  return count >= 0 ? count : -lastErrno();
}

/** Ends our direction of the stream. The peer then reads the end of the stream. */
export function endWriting(fd: number): void {
  shutdown(fd, SHUT_WR);
}

/** `struct linger` that is switched on, with zero seconds. */
const NO_LINGER = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);

/** Closes the socket with a reset, so that the peer sees an error and not a normal end. */
export function resetStream(fd: number): void {
  setsockopt(fd, SOL_SOCKET, SO_LINGER, NO_LINGER, NO_LINGER.length);
  close(fd);
}

/**
 * Makes the kernel end the connection if the peer does not acknowledge sent bytes within this time. An error does not
 * matter: it means that the connection has already ended.
 */
export function setUserTimeout(fd: number, milliseconds: number): void {
  const value = Buffer.alloc(4);
  value.writeInt32LE(milliseconds);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, value, value.length);
}

function setStreamOptions(fd: number, { keepAliveSeconds }: StreamOptions): void {
  setOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  setOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, keepAliveSeconds);
  setOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, keepAliveSeconds);
  setOption(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_ALIVE_PROBES);
}
