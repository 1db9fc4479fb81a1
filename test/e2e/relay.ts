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
 * A network between the proxy and the API server that a test can break. It relays encrypted TLS, so it handles only
 * bytes, as real networks do.
 */
export class Relay {
  readonly url = `https://${LOCALHOST}:${PORT}`;
  readonly #namespace: NetworkNamespace;
  readonly #pairs = new Set<Pair>();
  #server: Server | undefined;
  #refuses = false;
  #corrupts = false;
  #delayMs = 0;
  /** The number of bytes from the server until the relay cuts the connection. */
  #bytesLeft = Number.POSITIVE_INFINITY;
  /** The number of connections so far. */
  connections = 0;

  private constructor(namespace: NetworkNamespace) {
    this.#namespace = namespace;
  }

  static async open(namespace: NetworkNamespace): Promise<Relay> {
    const relay = new Relay(namespace);
    relay.#server = await listenTcp(namespace, LOCALHOST, PORT, near => void relay.#connect(near));
    return relay;
  }

  /** New connections work normally again. */
  pass(): void {
    this.#refuses = false;
    this.#corrupts = false;
    this.#delayMs = 0;
    this.#bytesLeft = Number.POSITIVE_INFINITY;
  }

  /** Ends all connections, and every new connection at once. */
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

  /** Cuts a connection after this many more bytes from the server, counted over all connections. */
  cutAfter(bytes: number): void {
    this.#bytesLeft = bytes;
  }

  /** The open connections go silent, and the proxy does not notice until they are cut. New connections work. */
  stall(): void {
    for (const { near, far } of this.#pairs) {
      near.removeAllListeners('data').resume();
      far.removeAllListeners().on('error', () => undefined);
      far.destroy();
    }
  }

  /** Changes a byte in everything that comes from the server. */
  corrupt(): void {
    this.#corrupts = true;
  }

  /** Delays all bytes in each direction. */
  delay(milliseconds: number): void {
    this.#delayMs = milliseconds;
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
    const some = bytes.subarray(0, this.#bytesLeft);
    this.#bytesLeft -= some.length;
    if (this.#corrupts) some[some.length >> 1] = ~(some[some.length >> 1] ?? 0);
    near.write(some);
    if (this.#bytesLeft > 0) return;
    this.#bytesLeft = Number.POSITIVE_INFINITY;
    near.destroySoon();
    far.destroy();
  }

  #later(act: () => void): void {
    if (this.#delayMs === 0) act();
    else setTimeout(act, this.#delayMs);
  }
}
