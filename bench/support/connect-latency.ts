import { once } from 'node:events';
import { NetworkNamespace } from '../../src/kernel/netns.ts';
import { connectTcp, listenTcp } from '../../src/kernel/sockets/index.ts';
import { NftablesMode } from '../../src/modes/nftables/index.ts';
import { type Ip, parseIp } from '../../src/net/index.ts';
import { loopbackOf, setLoopbackUp, withRoutes } from '../../test/support/namespaces.ts';
import { makeService, makeSlices } from './cluster.ts';
import { NodeProxy } from './node-proxy.ts';

/** How long each connection took to set up, in microseconds. */
export interface ConnectResult {
  /** To a Service. */
  readonly service: readonly number[];
  /** To a Service on a node that counts connections. */
  readonly counted: readonly number[];
  /** To the endpoint itself. */
  readonly direct: readonly number[];
}

const CONNECTIONS = 2000;
const WARM_UP = 200;
const ENDPOINT = address('10.200.0.1');
const ENDPOINT_PORT = 8080;

/**
 * Connects to Services all over the cluster, as often to Services of a node that counts connections, and as often to
 * the endpoint itself. All Services have the same endpoint.
 */
export async function measureConnects(services: number): Promise<ConnectResult> {
  const plain = await openNode(services, false);
  const counting = await openNode(services, true);
  try {
    return await connects(plain.namespace, counting.namespace, services);
  } finally {
    await plain.close();
    await counting.close();
  }
}

interface BenchNode {
  readonly namespace: NetworkNamespace;
  close(): Promise<void>;
}

async function openNode(services: number, countConnections: boolean): Promise<BenchNode> {
  const namespace = NetworkNamespace.create();
  const proxy = new NodeProxy(namespace, {
    open: (home, events) => new NftablesMode({ namespace: home, events, countConnections }),
  });
  prepareLoopback(namespace);
  for (let i = 0; i < services; i++) {
    proxy.service(makeService(i));
    for (const slice of makeSlices(i, 1)) {
      proxy.endpointSlice({
        ...slice,
        endpoints: slice.endpoints.map(endpoint => ({ ...endpoint, addresses: [ENDPOINT] })),
      });
    }
  }
  await proxy.write(proxy.take());
  const server = await listenTcp(namespace, ENDPOINT, ENDPOINT_PORT, peer => peer.on('error', () => {}).resume());
  return {
    namespace,
    async close() {
      server.close();
      await once(server, 'close');
      await proxy.close();
      namespace.close();
    },
  };
}

async function connects(plain: NetworkNamespace, counting: NetworkNamespace, services: number): Promise<ConnectResult> {
  const service: number[] = [];
  const counted: number[] = [];
  const direct: number[] = [];
  // The three kinds take turns, so that other work of the machine slows all of them alike.
  for (let i = 0; i < CONNECTIONS + WARM_UP; i++) {
    const ip = address(makeService((i * 7919) % services).spec.clusterIP);
    const times = [
      await connect(plain, ip, 80),
      await connect(counting, ip, 80),
      await connect(plain, ENDPOINT, ENDPOINT_PORT),
    ] as const;
    if (i < WARM_UP) continue;
    service.push(times[0]);
    counted.push(times[1]);
    direct.push(times[2]);
  }
  return { service, counted, direct };
}

async function connect(namespace: NetworkNamespace, ip: Ip, port: number): Promise<number> {
  const start = performance.now();
  const socket = await connectTcp(namespace, ip, port);
  const spent = performance.now() - start;
  // A connection that is reset leaves no state in the kernel that would slow down later connections.
  socket.resetAndDestroy();
  await once(socket, 'close');
  return spent * 1000;
}

function prepareLoopback(namespace: NetworkNamespace): void {
  setLoopbackUp(namespace);
  withRoutes(namespace, route => {
    const lo = loopbackOf(route);
    route.addAddress(lo, { ip: ENDPOINT, prefix: 32 });
    // Cluster IPs need any route, because the kernel looks for a route before the proxy's rules change the destination.
    route.addRoute({ destination: { address: address('10.96.0.0'), prefix: 12 }, dev: lo });
  });
}

function address(text: string): Ip {
  const ip = parseIp(text);
  if (ip === undefined) throw new Error(`${text} is not an IP address`);
  return ip;
}
