import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';
import { type Ip, joinHostPort } from '../../net/index.ts';
import type { NetworkNamespace } from '../netns.ts';
import { handOver, openDescriptor } from './descriptor.ts';
import { socketError } from './failure.ts';

/** What a stream is carried by. */
export type StreamType = 'TCP' | 'SCTP';

/** Listens in the namespace. The server owns its descriptor; closing it is up to the caller, as are the connections. */
export async function listenTcp(
  namespace: NetworkNamespace,
  ip: Ip,
  port: number,
  onConnection: (connection: Socket) => void,
  type: StreamType = 'TCP',
): Promise<Server> {
  const fd = openDescriptor(namespace, { type, ip, bindTo: { ip, port } });
  const server = handOver(fd, fd => createServer(onConnection).listen({ fd }));
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    throw socketError(`listen on ${type} ${joinHostPort(ip, port)}`, error);
  }
}

export interface ConnectOptions {
  /** The address to come from; the kernel chooses one if left out. */
  readonly source?: Ip | undefined;
  /** Gives up: the call is rejected with the signal's reason and nothing stays open. */
  readonly signal?: AbortSignal | undefined;
  /** TCP if left out. */
  readonly type?: StreamType;
}

/**
 * Connects from the namespace. Rejected with what the kernel says: ECONNREFUSED, EHOSTUNREACH, ETIMEDOUT … The caller
 * owns the connection and must listen to its errors.
 */
export async function connectTcp(
  namespace: NetworkNamespace,
  ip: Ip,
  port: number,
  { source, signal, type = 'TCP' }: ConnectOptions = {},
): Promise<Socket> {
  signal?.throwIfAborted();
  const bindTo = source === undefined ? undefined : { ip: source, port: 0 };
  const fd = openDescriptor(namespace, { type, ip, bindTo });
  const socket = handOver(fd, fd => new Socket({ fd }));
  try {
    // Node connects the descriptor that the socket has already. It must be asked before its loop turns and finds the
    // descriptor, which is not connected to anything, at its end.
    socket.connect({ host: ip, port });
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    if (signal?.aborted) throw signal.reason;
    throw socketError(`connect to ${type} ${joinHostPort(ip, port)}`, error);
  }
}
