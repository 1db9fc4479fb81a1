import type { NetworkNamespace } from '../../kernel/netns.ts';
import { bindUdp, listenTcp } from '../../kernel/sockets/index.ts';
import type { Ip } from '../../net/index.ts';
import type { ProbeProtocol } from './probe.ts';

/** Answers every connection or datagram with `server-address server-port caller-address`. */
export class EchoServer {
  readonly #stop: () => Promise<void>;

  private constructor(stop: () => Promise<void>) {
    this.#stop = stop;
  }

  static async start(namespace: NetworkNamespace, ip: Ip, port: number, protocol: ProbeProtocol): Promise<EchoServer> {
    const answer = (caller: string | undefined) => `${ip} ${port} ${caller}`;
    switch (protocol) {
      case 'TCP':
        return new EchoServer(await startTcp(namespace, ip, port, answer));
      case 'UDP':
        return new EchoServer(startUdp(namespace, ip, port, answer));
    }
  }

  close(): Promise<void> {
    return this.#stop();
  }
}

type Answer = (caller: string | undefined) => string;
type Stop = () => Promise<void>;

async function startTcp(namespace: NetworkNamespace, ip: Ip, port: number, answer: Answer): Promise<Stop> {
  const connections = new Set<{ destroy(): void }>();
  const server = await listenTcp(namespace, ip, port, connection => {
    connections.add(connection);
    connection.once('close', () => connections.delete(connection));
    // A caller that hangs up needs no answer.
    connection.on('error', () => undefined);
    connection.end(answer(connection.remoteAddress));
  });
  return () => {
    const closed = new Promise<void>(resolve => server.close(() => resolve()));
    for (const connection of connections) connection.destroy();
    return closed;
  };
}

function startUdp(namespace: NetworkNamespace, ip: Ip, port: number, answer: Answer): Stop {
  const socket = bindUdp(namespace, ip, port);
  // A caller that is gone needs no answer.
  socket.on('error', () => undefined);
  socket.on('message', (_, caller) => socket.send(answer(caller.address), caller.port, caller.address));
  return () => new Promise<void>(resolve => socket.close(() => resolve()));
}
