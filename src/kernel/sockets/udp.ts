import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { familyOf, type Ip, joinHostPort } from '../../net/index.ts';
import type { NetworkNamespace } from '../netns.ts';
import { closeOnError, type DescriptorOptions, openDescriptor } from './descriptor.ts';
import { socketError } from './socket-error.ts';
import type { ConnectOptions } from './tcp.ts';

/** Opens a socket that receives datagrams for an address of the namespace. The caller owns the socket. */
export function bindUdp(namespace: NetworkNamespace, ip: Ip, port: number): Socket {
  return openSocket(namespace, { type: 'UDP', ip, bindTo: { ip, port } });
}

/**
 * Opens a socket in the namespace that is connected to one address. The kernel reports ICMP errors only to connected
 * sockets: a refused datagram makes the socket emit ECONNREFUSED. The caller owns the socket.
 */
export async function connectUdp(
  namespace: NetworkNamespace | undefined,
  ip: Ip,
  port: number,
  { source, signal }: ConnectOptions = {},
): Promise<Socket> {
  signal?.throwIfAborted();
  const bindTo = source === undefined ? undefined : { ip: source, port: 0 };
  const socket = openSocket(namespace, { type: 'UDP', ip, bindTo });
  try {
    socket.connect(port, ip);
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.close();
    if (signal?.aborted) throw signal.reason;
    throw socketError(`connect to UDP ${joinHostPort(ip, port)}`, error);
  }
}

function openSocket(namespace: NetworkNamespace | undefined, options: DescriptorOptions): Socket {
  const fd = openDescriptor(namespace, options);
  return closeOnError(fd, fd => createSocket(familyOf(options.ip) === 'IPv4' ? 'udp4' : 'udp6').bind({ fd }));
}
