import { once } from 'node:events';
import { createServer, type Server, Socket } from 'node:net';
import { type Ip, joinHostPort } from '../../net/index.ts';
import type { NetworkNamespace } from '../netns.ts';
import { closeOnError, openDescriptor } from './descriptor.ts';
import { socketError } from './socket-error.ts';

/** The transport protocol of a stream. */
export type StreamType = 'TCP' | 'SCTP';

/** Listens in the namespace. The caller must close the server and its connections. */
export async function listenTcp(
  namespace: NetworkNamespace,
  ip: Ip,
  port: number,
  onConnection: (connection: Socket) => void,
  type: StreamType = 'TCP',
): Promise<Server> {
  const fd = openDescriptor(namespace, { type, ip, bindTo: { ip, port } });
  const server = closeOnError(fd, fd => createServer(onConnection).listen({ fd }));
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    throw socketError(`listen on ${type} ${joinHostPort(ip, port)}`, error);
  }
}

export interface ConnectOptions {
  /** The source address. By default the kernel chooses one. */
  readonly source?: Ip | undefined;
  /** Ends the attempt. The promise is then rejected with the signal's reason, and nothing stays open. */
  readonly signal?: AbortSignal | undefined;
  /** By default TCP. */
  readonly type?: StreamType;
}

/**
 * Connects from the namespace. Throws with the kernel's errno: ECONNREFUSED, EHOSTUNREACH, ETIMEDOUT … The caller owns
 * the connection and must listen to its errors.
 */
export async function connectTcp(
  namespace: NetworkNamespace | undefined,
  ip: Ip,
  port: number,
  { source, signal, type = 'TCP' }: ConnectOptions = {},
): Promise<Socket> {
  signal?.throwIfAborted();
  const bindTo = source === undefined ? undefined : { ip: source, port: 0 };
  const fd = openDescriptor(namespace, { type, ip, bindTo });
  const socket = closeOnError(fd, fd => new Socket({ fd }));
  try {
    // Node connects the descriptor of the socket. This call must come before Node's event loop polls the descriptor,
    // because a descriptor that is not connected reads as an ended stream.
    socket.connect({ host: ip, port });
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    if (signal?.aborted) throw signal.reason;
    throw socketError(`connect to ${type} ${joinHostPort(ip, port)}`, error);
  }
}
