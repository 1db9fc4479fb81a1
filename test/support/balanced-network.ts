import { recv, send } from '../../src/kernel/libc.ts';
import { type Family, type Ip, joinHostPort } from '../../src/net/index.ts';
import { BALANCED, BALANCED_NODE_PORT } from './balanced-service.ts';
import { loopbackOf, NODE_IP, NODE_IP6, withRoutes } from './namespaces.ts';
import { TestNetwork, TestSocket } from './test-socket.ts';

const MSG_DONTWAIT = 0x40;
const FIRST_CALLS = 100;
const TIMEOUT_MS = 20_000;

/** The client's end of a connection. By default the kernel chooses it. */
export interface Client {
  readonly ip: Ip;
  /** 0, the default, lets the kernel choose. */
  readonly port?: number;
}

/** A network namespace with listeners that are the endpoints of a Service, and with addresses of clients. */
export class BalancedNetwork {
  readonly network: TestNetwork;
  readonly clients: readonly Ip[];
  readonly #family: Family;
  readonly #datagrams = new Map<string, TestSocket>();

  constructor(family: Family, pods: readonly Ip[], clients = 1) {
    this.#family = family;
    this.network = new TestNetwork(pods);
    const isV6 = family === 'IPv6';
    this.clients = Array.from({ length: clients }, (_, i) => `${isV6 ? 'fd00:10:1::' : '10.1.0.'}${i + 1}` as Ip);
    withRoutes(this.namespace, route => {
      const lo = loopbackOf(route);
      for (const ip of [BALANCED[family].clusterIP, isV6 ? NODE_IP6 : NODE_IP, ...this.clients]) {
        route.addAddress(lo, { ip, prefix: isV6 ? 128 : 32, ...(isV6 && { nodad: true }) });
      }
    });
  }

  get namespace() {
    return this.network.namespace;
  }

  /** Waits until the Service answers at all addresses: for some moments the kernel may refuse new IPv6 addresses. */
  waitForService(): void {
    for (const where of ['cluster-ip', 'node-port'] as const) {
      for (const ip of this.clients) {
        let calls = 0;
        while (!this.ask(where, { ip }).includes(':8080')) {
          if (++calls === FIRST_CALLS) throw new Error(`the Service does not answer ${ip} at its ${where}`);
        }
      }
    }
  }

  /** Connects to the Service, and says which endpoint took the connection, or why there is none. */
  ask(where: 'cluster-ip' | 'node-port', from?: Client): string {
    const client = new TestSocket(this.namespace, this.#family);
    try {
      if (from) client.bind(from.ip, from.port ?? 0);
      const result = client.connect(...this.#address(where));
      return result === 'connected' ? this.network.takenBy() : result;
    } finally {
      client.close();
    }
  }

  /** Sends a datagram from a new socket, and says which endpoint got it. `listenForDatagrams` comes first. */
  askWithDatagram(where: 'cluster-ip' | 'node-port'): string {
    const client = new TestSocket(this.namespace, this.#family, { type: 'UDP' });
    try {
      const result = client.connect(...this.#address(where));
      if (result !== 'connected' || send(client.fd, Buffer.of(1), 1, 0) < 0) return `failed: ${result}`;
      return this.#datagramTakenBy();
    } finally {
      client.close();
    }
  }

  listenForDatagrams(pods: readonly Ip[]): void {
    for (const ip of pods) {
      const server = new TestSocket(this.namespace, this.#family, { type: 'UDP' });
      server.bind(ip, 8080);
      this.#datagrams.set(joinHostPort(ip, 8080), server);
    }
  }

  close(): void {
    for (const server of this.#datagrams.values()) server.close();
    this.network.close();
  }

  /** A datagram may arrive some moments later on a busy machine. */
  #datagramTakenBy(): string {
    const end = performance.now() + TIMEOUT_MS;
    while (performance.now() < end) {
      for (const [name, { fd }] of this.#datagrams) if (recv(fd, Buffer.alloc(1), 1, MSG_DONTWAIT) === 1) return name;
    }
    throw new Error('no endpoint has a datagram');
  }

  #address(where: 'cluster-ip' | 'node-port'): [Ip, number] {
    if (where === 'cluster-ip') return [BALANCED[this.#family].clusterIP, 80];
    return [this.#family === 'IPv4' ? NODE_IP : NODE_IP6, BALANCED_NODE_PORT];
  }
}
