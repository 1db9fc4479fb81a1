import type { Family, Ip } from '../../net/index.ts';
import { accept4, check, close, connect, errno, errnoName, listen, recv, send, setsockopt, shutdown } from '../libc.ts';
import type { NetworkNamespace } from '../netns.ts';
import { getOption, guarded, openBound, openRaw, SOCK_NONBLOCK_CLOEXEC, SOL_SOCKET, setOption } from './raw-socket.ts';

const SO_ERROR = 4;
const SO_KEEPALIVE = 9;
const SO_LINGER = 13;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
const TCP_KEEPIDLE = 4;
const TCP_KEEPINTVL = 5;
const TCP_KEEPCNT = 6;
/** Questions without an answer after which the other end is given up. */
const KEEP_ALIVE_PROBES = 4;
const TCP_USER_TIMEOUT = 18;
const MSG_NOSIGNAL = 0x4000;
const SHUT_WR = 1;
/** The kernel takes `net.core.somaxconn` if that is less. */
const BACKLOG = 65535;

export const EAGAIN = 11;
export const EINPROGRESS = 115;

export interface StreamOptions {
  /** After so long a silence the other end is asked whether it is still there, and again as often. */
  readonly keepAliveSeconds: number;
}

/** Listens with options that accepted connections have too. */
export function listenStream(
  namespace: NetworkNamespace | undefined,
  family: Family,
  ip: Ip,
  port: number,
  options: StreamOptions,
): number {
  return guarded(openBound(namespace, family, 'TCP', ip, port, { reuse: true }), fd => {
    prepare(fd, options);
    check(listen(fd, BACKLOG), 'listen');
  });
}

const peerLength = Buffer.alloc(4);

/** A connection's descriptor, or a negative errno. The caller's address is written as a sockaddr. */
export function acceptStream(fd: number, peer: Buffer): number {
  peerLength.writeUInt32LE(peer.length);
  const accepted = accept4(fd, peer, peerLength, SOCK_NONBLOCK_CLOEXEC);
  return accepted >= 0 ? accepted : -errno();
}

/** Begins to connect. Whether it worked is known when the descriptor is ready to be written to: ask `connectResult`. */
export function connectStream(
  namespace: NetworkNamespace | undefined,
  family: Family,
  address: Buffer,
  options: StreamOptions,
): number {
  return guarded(openRaw(namespace, family, 'TCP'), fd => {
    prepare(fd, options);
    const result = connect(fd, address, address.length);
    if (result < 0 && errno() !== EINPROGRESS) check(result, 'connect');
  });
}

/** Undefined: it is connected. Otherwise why not, `ECONNREFUSED`. */
export function connectResult(fd: number): string | undefined {
  const error = getOption(fd, SOL_SOCKET, SO_ERROR);
  return error === 0 ? undefined : errnoName(error);
}

/** How many bytes were there, 0 at the end, or a negative errno. */
export function receive(fd: number, buffer: Buffer): number {
  const count = recv(fd, buffer, buffer.length, 0);
  return count >= 0 ? count : -errno();
}

/** How many of the bytes were taken, or a negative errno. */
export function transmit(fd: number, bytes: Buffer, length: number): number {
  const count = send(fd, bytes, length, MSG_NOSIGNAL);
  return count >= 0 ? count : -errno();
}

/** Says to the other end that nothing more comes. */
export function endWriting(fd: number): void {
  shutdown(fd, SHUT_WR);
}

const LINGER_NOT = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0]);

/** Closes so that the other end knows that something went wrong. */
export function resetStream(fd: number): void {
  setsockopt(fd, SOL_SOCKET, SO_LINGER, LINGER_NOT, LINGER_NOT.length);
  close(fd);
}

/** Gives the connection up if what is sent is not confirmed for so long. One that has ended meanwhile needs no limit. */
export function limitUnconfirmed(fd: number, milliseconds: number): void {
  const value = Buffer.alloc(4);
  value.writeInt32LE(milliseconds);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, value, value.length);
}

function prepare(fd: number, { keepAliveSeconds }: StreamOptions): void {
  setOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  setOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, keepAliveSeconds);
  setOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, keepAliveSeconds);
  setOption(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_ALIVE_PROBES);
}
