import { familyOf, type Ip, joinHostPort } from '../../net/index.ts';
import { bind, check, close, setsockopt, socket } from '../libc.ts';
import type { NetworkNamespace } from '../netns.ts';
import { AF_INET, AF_INET6, encodeSocketAddress } from './socket-address.ts';

export const SocketType = { TCP: 1, UDP: 2, SCTP: 1 } as const;

/** A stream of SCTP is used as one of TCP is, but has to be asked for. */
const PROTOCOLS = { TCP: 0, UDP: 0, SCTP: 132 } as const;

const SOCK_NONBLOCK_CLOEXEC = 0o4000 | 0o2000000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;

export interface DescriptorOptions {
  readonly type: keyof typeof SocketType;
  /** The address at the other end, or at this one: any of the family. */
  readonly ip: Ip;
  readonly bindTo?: { readonly ip: Ip; readonly port: number } | undefined;
}

/** A socket that belongs to the namespace for good, whatever the thread does later. The caller must close it. */
export function openDescriptor(namespace: NetworkNamespace, { type, ip, bindTo }: DescriptorOptions): number {
  const domain = familyOf(ip) === 'IPv4' ? AF_INET : AF_INET6;
  const kind = SocketType[type] | SOCK_NONBLOCK_CLOEXEC;
  const fd = namespace.run(() => check(socket(domain, kind, PROTOCOLS[type]), `open a ${type} socket`));
  try {
    if (bindTo) bindDescriptor(fd, type, bindTo.ip, bindTo.port);
    return fd;
  } catch (error) {
    close(fd);
    throw error;
  }
}

function bindDescriptor(fd: number, type: keyof typeof SocketType, ip: Ip, port: number): void {
  const operation = `bind ${type} ${joinHostPort(ip, port)}`;
  if (type === 'TCP') {
    // Connections of an earlier listener that still wait for stray packets would keep the address for a minute.
    const one = Buffer.from([1, 0, 0, 0]);
    check(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, one, one.length), operation);
  }
  const address = encodeSocketAddress(ip, port);
  check(bind(fd, address, address.length), operation);
}

/** Hands the descriptor over to `wrap`, or closes it if that fails. */
export function handOver<T>(fd: number, wrap: (fd: number) => T): T {
  try {
    return wrap(fd);
  } catch (error) {
    close(fd);
    throw error;
  }
}
