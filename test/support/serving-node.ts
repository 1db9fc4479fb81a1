import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { connectTcp, listenTcp } from '../../src/kernel/sockets/index.ts';
import type { Clock } from '../../src/lib/clock.ts';
import type { Ip } from '../../src/net/index.ts';
import { createProxy, type ProxyListeners, type RunningProxy } from '../../src/proxy/index.ts';
import { type LabMode, labMode } from './lab-mode.ts';
import { createNodeNamespace, loopbackOf, withRoutes } from './namespaces.ts';
import { service, slice } from './objects.ts';
import { countPicks } from './picked-endpoints.ts';
import { STRICT_LISTENERS, TEST_LIVE } from './strict-proxy.ts';

const VIP = '10.96.0.1' as Ip;

/** A connection of a client, and the endpoint that answered. */
export interface OpenConnection {
  readonly socket: Socket;
  readonly endpoint: string;
}

export interface ServingNodeOptions {
  /** The default is nftables. */
  readonly mode?: LabMode;
  /** The clock of what the proxy learns about endpoints. */
  readonly feedbackClock?: Clock;
  readonly listeners?: Partial<ProxyListeners>;
}

/** A node with a proxy. Its endpoints are addresses of the node itself, with port 8080. */
export class ServingNode {
  readonly namespace: NetworkNamespace = createNodeNamespace();
  readonly proxy: RunningProxy;
  readonly #servers = new Map<string, Server>();
  readonly #open = new Set<OpenConnection>();

  constructor({ mode = 'nftables', feedbackClock, listeners }: ServingNodeOptions = {}) {
    const { namespace } = this;
    this.proxy = createProxy(
      {
        nodeName: 'node-a',
        families: ['IPv4'],
        namespace,
        mode: labMode(mode, namespace),
        live: TEST_LIVE,
        feedbackClock,
      },
      { ...STRICT_LISTENERS, ...listeners },
    );
  }

  static async use(work: (node: ServingNode) => Promise<void>, options?: ServingNodeOptions): Promise<void> {
    const node = new ServingNode(options);
    try {
      await work(node);
    } finally {
      await node.close();
    }
  }

  /** The endpoint accepts connections and says its address. */
  async serve(...endpoints: readonly string[]): Promise<void> {
    for (const ip of endpoints) {
      withRoutes(this.namespace, route => route.addAddress(loopbackOf(route), { ip: ip as Ip, prefix: 32 }));
      const server = await listenTcp(this.namespace, ip as Ip, 8080, connection => {
        connection.on('error', () => {}).on('end', () => connection.end());
        connection.write(ip);
      });
      this.#servers.set(ip, server);
    }
  }

  /** Writes the Service `web` with these endpoints. */
  async balance(annotations: Readonly<Record<string, string>>, endpoints: readonly string[]): Promise<void> {
    const { loop } = this.proxy;
    loop.serviceChanged({ type: 'added', to: service('web', { annotations }) });
    loop.endpointSliceChanged({ type: 'added', to: slice('web-1', endpoints) });
    loop.synced();
    await loop.settled();
  }

  async connect(): Promise<OpenConnection> {
    const socket = await connectTcp(this.namespace, VIP, 80);
    const [answer] = await once(
      socket.on('error', () => {}),
      'data',
    );
    const connection = { socket, endpoint: String(answer) };
    this.#open.add(connection);
    return connection;
  }

  /** How many of that many new connections each endpoint gets. They end at once. */
  async countNew(endpoints: readonly string[], connections: number): Promise<readonly number[]> {
    const counts = await countPicks(this.namespace, VIP, 80, connections);
    return endpoints.map(endpoint => counts.get(endpoint) ?? 0);
  }

  /** Ends a connection. Resolves when both sides have ended it. */
  async disconnect(connection: OpenConnection): Promise<void> {
    this.#open.delete(connection);
    const closed = once(connection.socket, 'close');
    connection.socket.end();
    await closed;
  }

  get open(): readonly OpenConnection[] {
    return [...this.#open];
  }

  /** How many connections each endpoint has now. */
  counts(endpoints: readonly string[]): readonly number[] {
    return endpoints.map(endpoint => this.open.filter(connection => connection.endpoint === endpoint).length);
  }

  /** The weights of the endpoints in the plan of the Service. Undefined if all weigh the same. */
  get weights(): ReadonlyMap<string, number> | undefined {
    return this.proxy.loop.state.family('IPv4').planner.plansOf('default/web')[0]?.balance?.weights;
  }

  async close(): Promise<void> {
    for (const { socket } of this.#open) socket.destroy();
    for (const server of this.#servers.values()) server.close();
    await this.proxy.close();
    this.namespace.close();
  }
}
