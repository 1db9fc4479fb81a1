import { type Family, type Ip, joinHostPort } from '../../net/index.ts';
import { bind, check, close, getrlimit, getsockname, getsockopt, setsockopt, socket } from '../libc.ts';
import type { NetworkNamespace } from '../netns.ts';
import { closeOnError, SO_REUSEADDR, SOCK_NONBLOCK_CLOEXEC, SOL_SOCKET, SocketType } from './descriptor.ts';
import { AF_INET, AF_INET6, encodeSocketAddress } from './socket-address.ts';

// Sockets as bare descriptors, for code that holds thousands of them and copies bytes between them. The caller owns
// each descriptor and must close it exactly once, because the kernel soon gives a closed number to another socket.

const IPPROTO_IPV6 = 41;
const IPV6_V6ONLY = 26;
const RLIMIT_NOFILE = 7;

export function openRaw(
  namespace: NetworkNamespace | undefined,
  family: Family,
  type: keyof typeof SocketType,
): number {
  const open = () =>
    check(
      socket(family === 'IPv4' ? AF_INET : AF_INET6, SocketType[type] | SOCK_NONBLOCK_CLOEXEC, 0),
      `open a ${type} socket`,
    );
  return namespace ? namespace.run(open) : open();
}

export interface BindOptions {
  /** Sets SO_REUSEADDR: other sockets may bind the same address as long as none of them listens. */
  readonly reuse?: boolean;
}

/** Opens a socket and binds it. An IPv6 socket accepts no IPv4, so both families can have the same port. */
export function openBound(
  namespace: NetworkNamespace | undefined,
  family: Family,
  type: keyof typeof SocketType,
  ip: Ip,
  port: number,
  { reuse = false }: BindOptions = {},
): number {
  const operation = `bind ${type} ${joinHostPort(ip, port)}`;
  return closeOnError(openRaw(namespace, family, type), fd => {
    if (family === 'IPv6') setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (reuse) setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    const address = encodeSocketAddress(ip, port);
    check(bind(fd, address, address.length), operation);
    return fd;
  });
}

const value = Buffer.alloc(4);
const length = Buffer.alloc(4);

export function setOption(fd: number, level: number, name: number, number: number): void {
  value.writeInt32LE(number);
  check(setsockopt(fd, level, name, value, value.length), 'set a socket option');
}

export function getOption(fd: number, level: number, name: number): number {
  length.writeUInt32LE(value.length);
  check(getsockopt(fd, level, name, value, length), 'get a socket option');
  return value.readInt32LE();
}

/** The port that a socket is bound to. */
export function portOf(fd: number): number {
  const address = Buffer.alloc(28);
  length.writeUInt32LE(address.length);
  check(getsockname(fd, address, length), 'get the address of a socket');
  return address.readUInt16BE(2);
}

export function closeRaw(fd: number): void {
  close(fd);
}

/** How many descriptors this process may have open. */
export function descriptorLimit(): number {
  const limits = Buffer.alloc(16);
  check(getrlimit(RLIMIT_NOFILE, limits), 'get the descriptor limit');
  return Number(limits.readBigUInt64LE());
}

/** Opens a descriptor as a reserve: the caller closes it when the process has no free descriptor left. */
export function openSpare(): number {
  return openRaw(undefined, 'IPv4', 'UDP');
}
