import type { Server, Socket } from 'node:net';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { connectTcp, listenTcp } from '../../src/kernel/sockets/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { APISERVER_PORT } from '../control-plane/server-commands.ts';
import { NODE_IP } from '../support/namespaces.ts';

const PORT = 16443;
const LOCALHOST = '127.0.0.1' as Ip;

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/**
 * A network between the proxy and the API server that can go wrong. TLS goes through it, so it sees bytes and no more,
 * as networks do.
 */
export class Relay {
  readonly url = `https://${LOCALHOST}:${PORT}`;
  readonly #namespace: NetworkNamespace;
  readonly #pairs = new Set<Pair>();
  #server: Server | undefined;
  #refuses = false;
  #lagMs = 0;
  /** Bytes that may still come from the server before the connection is cut. */
  #left = Number.POSITIVE_INFINITY;
  /** All connections so far. */
  connections = 0;

  private constructor(namespace: NetworkNamespace) {
    this.#namespace = namespace;
  }

  static async open(namespace: NetworkNamespace): Promise<Relay> {
    const relay = new Relay(namespace);
    relay.#server = await listenTcp(namespace, LOCALHOST, PORT, near => void relay.#connect(near));
    return relay;
  }

  /** All is well again, for connections that begin now. */
  pass(): void {
    this.#refuses = false;
    this.#lagMs = 0;
    this.#left = Number.POSITIVE_INFINITY;
  }

  /** Ends all connections, and every new one at once. */
  refuse(): void {
    this.#refuses = true;
    this.cut();
  }

  cut(): void {
    for (const { near, far } of this.#pairs) {
      near.destroy();
      far.destroy();
    }
  }

  /** Cuts the connection over which the last of so many bytes come. */
  cutAfter(bytes: number): void {
    this.#left = bytes;
  }

  /** Nothing comes through the connections of now any more, and the proxy is not told, until they are cut. New ones are well. */
  stall(): void {
    for (const { near, far } of this.#pairs) {
      near.removeAllListeners('data').resume();
      far.removeAllListeners().on('error', () => undefined);
      far.destroy();
    }
  }

  /** Everything takes so long in each direction. */
  lag(milliseconds: number): void {
    this.#lagMs = milliseconds;
  }

  close(): void {
    this.#server?.close();
    this.refuse();
  }

  async #connect(near: Socket): Promise<void> {
    this.connections++;
    near.on('error', () => near.destroy());
    if (this.#refuses) {
      near.destroy();
      return;
    }
    try {
      const far = await connectTcp(this.#namespace, NODE_IP, APISERVER_PORT);
      this.#join({ near, far });
    } catch {
      near.destroy();
    }
  }

  #join(pair: Pair): void {
    const { near, far } = pair;
    this.#pairs.add(pair);
    far.on('error', () => far.destroy());
    near.once('close', () => {
      this.#pairs.delete(pair);
      far.destroy();
    });
    far.once('close', () => near.destroy());
    near.on('data', bytes => this.#later(() => far.write(bytes)));
    far.on('data', bytes => this.#later(() => this.#answer(pair, bytes)));
  }

  #answer({ near, far }: Pair, bytes: Buffer): void {
    const some = bytes.subarray(0, this.#left);
    this.#left -= some.length;
    near.write(some);
    if (this.#left > 0) return;
    this.#left = Number.POSITIVE_INFINITY;
    near.destroySoon();
    far.destroy();
  }

  #later(act: () => void): void {
    if (this.#lagMs === 0) act();
    else setTimeout(act, this.#lagMs);
  }
}
