import { type Family, type Ip, joinHostPort } from '../../net/index.ts';
import { bind, check, close, getrlimit, getsockname, getsockopt, setsockopt, socket } from '../libc.ts';
import type { NetworkNamespace } from '../netns.ts';
import { SocketType } from './descriptor.ts';
import { AF_INET, AF_INET6, encodeSocketAddress } from './socket-address.ts';

// Sockets as bare descriptors, for programs that hold thousands of them and copy bytes between them. The caller owns
// each descriptor and must close it exactly once: a number that is closed may be another socket a moment later.

export const SOCK_NONBLOCK_CLOEXEC = 0o4000 | 0o2000000;
export const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
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
  /** Others may bind it while nobody listens. */
  readonly reuse?: boolean;
}

/** A socket that has an address. IPv6 ones take no IPv4, so that both families can have the same port. */
export function openBound(
  namespace: NetworkNamespace | undefined,
  family: Family,
  type: keyof typeof SocketType,
  ip: Ip,
  port: number,
  { reuse = false }: BindOptions = {},
): number {
  const operation = `bind ${type} ${joinHostPort(ip, port)}`;
  return guarded(openRaw(namespace, family, type), fd => {
    if (family === 'IPv6') setOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (reuse) setOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    const address = encodeSocketAddress(ip, port);
    check(bind(fd, address, address.length), operation);
  });
}

/** Does something with a new descriptor, which is closed if that fails. */
export function guarded(fd: number, work: (fd: number) => void): number {
  try {
    work(fd);
    return fd;
  } catch (error) {
    close(fd);
    throw error;
  }
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

/** How many descriptors this process may have. */
export function descriptorLimit(): number {
  const limits = Buffer.alloc(16);
  check(getrlimit(RLIMIT_NOFILE, limits), 'get the limit of descriptors');
  return Number(limits.readBigUInt64LE());
}

/** A descriptor of no use but to be there. */
export function openSpare(): number {
  return openRaw(undefined, 'IPv4', 'UDP');
}
