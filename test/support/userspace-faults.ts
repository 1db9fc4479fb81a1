import type { Socket } from 'node:net';
import type { KernelError } from '../../src/kernel/errors.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { connectTcp, listenTcp } from '../../src/kernel/sockets/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { service, slice } from './objects.ts';
import type { UserspaceHarness } from './userspace-mode.ts';

export const ip = (text: string) => text as Ip;
export const VIP = ip('10.96.0.1');

/** Serves a Service for TCP at 10.96.0.1:80. */
export async function serveWeb(harness: UserspaceHarness, ...pods: readonly string[]): Promise<void> {
  harness.set(service('web'), slice('web-1', pods));
  await harness.sync();
}

/** Serves a Service for UDP at 10.96.0.1:53, with an endpoint at 10.244.1.1:5353. */
export async function serveDns(harness: UserspaceHarness): Promise<void> {
  const ports = [{ name: '', protocol: 'UDP', port: 5353 }] as const;
  harness.set(service('dns', { ports: [{ protocol: 'UDP', port: 53 }] }), slice('dns-1', ['10.244.1.1'], { ports }));
  await harness.sync();
}

/** Runs the work with a server at 10.244.1.1:8080. All connections of the server end with it. */
export async function withServer(
  namespace: NetworkNamespace,
  onConnection: (connection: Socket) => void,
  work: () => Promise<void>,
): Promise<void> {
  const connections = new Set<Socket>();
  const server = await listenTcp(namespace, ip('10.244.1.1'), 8080, connection => {
    connections.add(connection);
    connection.on('error', () => {});
    onConnection(connection);
  });
  try {
    await work();
  } finally {
    for (const connection of connections) connection.destroy();
    await new Promise(resolve => server.close(resolve));
  }
}

export async function connect(namespace: NetworkNamespace): Promise<Socket> {
  const socket = await connectTcp(namespace, VIP, 80);
  socket.on('error', () => {});
  return socket;
}

/** How a connection ends: `end`, or the code of its error. */
export function ending(socket: Socket): Promise<string> {
  return new Promise(resolve => {
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    socket.once('end', () => resolve('end'));
    socket.resume();
  });
}

/** Connects, and returns how the connection ends or why there is none. */
export function outcome(namespace: NetworkNamespace): Promise<string> {
  return connectTcp(namespace, VIP, 80).then(ending, (error: KernelError) => error.errno ?? 'error');
}
