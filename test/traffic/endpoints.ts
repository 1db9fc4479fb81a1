import type { EndpointSlice } from '../../src/api/index.ts';
import { type Cluster, EchoServer, placementOf } from '../../src/demo/playground/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type Family, familyOf, type Ip, parseIp } from '../../src/net/index.ts';

/** Echo servers for every endpoint that a case has or had. An endpoint that left its slice still answers. */
export class Endpoints {
  readonly #cluster: Cluster;
  readonly #servers = new Map<string, EchoServer>();
  readonly #pods = new Map<Ip, NetworkNamespace>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  async serve(slices: readonly EndpointSlice[]): Promise<void> {
    for (const { endpoints, ports } of slices) {
      for (const { addresses } of endpoints) {
        const ip = address(addresses[0] ?? '');
        const namespace = this.#cluster.addPod(ip);
        for (const { port = 0, protocol } of ports) {
          const key = `${ip} ${port} ${protocol}`;
          if (protocol === 'SCTP' || this.#servers.has(key)) continue;
          this.#servers.set(key, await EchoServer.start(namespace, ip, port, protocol));
          if (placementOf(ip).kind === 'pod') this.#pods.set(ip, namespace);
        }
      }
    }
  }

  /** The pods on the node that have an echo server, sorted by the text of their addresses. */
  localPods(family: Family): readonly (readonly [ip: Ip, namespace: NetworkNamespace])[] {
    return [...this.#pods].filter(([ip]) => familyOf(ip) === family).sort(([a], [b]) => (a < b ? -1 : 1));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map(server => server.close()));
  }
}

export function address(text: string): Ip {
  const ip = parseIp(text);
  if (!ip) throw new RangeError(`not an address: ${text}`);
  return ip;
}
