import { familyOf, type Ip, joinHostPort } from '../../net/index.ts';
import { bind, check, close, setsockopt, socket } from '../libc.ts';
import type { NetworkNamespace } from '../netns.ts';
import { AF_INET, AF_INET6, encodeSocketAddress } from './socket-address.ts';

export const SocketType = { TCP: 1, UDP: 2, SCTP: 1 } as const;

/** SCTP and TCP have the same socket type, so only the protocol number distinguishes them. */
const PROTOCOLS = { TCP: 0, UDP: 0, SCTP: 132 } as const;

export const SOCK_NONBLOCK_CLOEXEC = 0o4000 | 0o2000000;
export const SOL_SOCKET = 1;
export const SO_REUSEADDR = 2;

export interface DescriptorOptions {
  readonly type: keyof typeof SocketType;
  /** Any address of the wanted family, for example the peer's address. */
  readonly ip: Ip;
  readonly bindTo?: { readonly ip: Ip; readonly port: number } | undefined;
}

/**
 * Opens a socket in the namespace, by default in that of this process. It stays there, whichever namespace the thread enters later. The caller closes it.
 */
export function openDescriptor(
  namespace: NetworkNamespace | undefined,
  { type, ip, bindTo }: DescriptorOptions,
): number {
  const domain = familyOf(ip) === 'IPv4' ? AF_INET : AF_INET6;
  const kind = SocketType[type] | SOCK_NONBLOCK_CLOEXEC;
  const open = () => check(socket(domain, kind, PROTOCOLS[type]), `open a ${type} socket`);
  const fd = namespace ? namespace.run(open) : open();
  return closeOnError(fd, fd => {
    if (bindTo) bindDescriptor(fd, type, bindTo.ip, bindTo.port);
    return fd;
  });
}

function bindDescriptor(fd: number, type: keyof typeof SocketType, ip: Ip, port: number): void {
  const operation = `bind ${type} ${joinHostPort(ip, port)}`;
  if (type === 'TCP') {
    // Without this option, connections of an earlier listener in TIME_WAIT would block the address for a minute.
    const one = Buffer.from([1, 0, 0, 0]);
    check(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, one, one.length), operation);
  }
  const address = encodeSocketAddress(ip, port);
  check(bind(fd, address, address.length), operation);
}

/** Returns the result of `work`. Closes the descriptor if `work` throws. */
export function closeOnError<T>(fd: number, work: (fd: number) => T): T {
  try {
    return work(fd);
  } catch (error) {
    close(fd);
    throw error;
  }
}
