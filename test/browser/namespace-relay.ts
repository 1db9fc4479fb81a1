import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { connectTcp } from '../../src/kernel/sockets/index.ts';
import type { Ip } from '../../src/net/index.ts';

const LOCALHOST = '127.0.0.1' as Ip;

/** A port of this machine's loopback interface that leads to a port in a network namespace. It relays bytes. */
export class NamespaceRelay {
  readonly #namespace: NetworkNamespace;
  readonly #port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** So many connections were opened through the relay. */
  connections = 0;

  private constructor(namespace: NetworkNamespace, port: number) {
    this.#namespace = namespace;
    this.#port = port;
    this.#server = createServer({ allowHalfOpen: true }, near => void this.#connect(near));
  }

  static async open(namespace: NetworkNamespace, port: number): Promise<NamespaceRelay> {
    const relay = new NamespaceRelay(namespace, port);
    relay.#server.listen(0, LOCALHOST);
    await once(relay.#server, 'listening');
    return relay;
  }

  /** `127.0.0.1:1234` */
  get address(): string {
    return `${LOCALHOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends all connections. New ones work. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  async #connect(near: Socket): Promise<void> {
    this.connections++;
    this.#keep(near);
    try {
      const far = await connectTcp(this.#namespace, LOCALHOST, this.#port);
      this.#keep(far);
      near.pipe(far).pipe(near);
      near.once('close', () => far.destroy());
      far.once('close', () => near.destroy());
      if (near.destroyed) far.destroy();
    } catch {
      near.destroy();
    }
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }
}
