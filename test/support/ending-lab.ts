import type { EndpointSlice, Service } from '../../src/api/index.ts';
import { Cluster } from '../../src/demo/playground/index.ts';
import { ConntrackSocket, L4 } from '../../src/kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { closeRaw, listenStream } from '../../src/kernel/sockets/index.ts';
import { writeSysctl } from '../../src/kernel/sysctl.ts';
import type { EndReport } from '../../src/modes/index.ts';
import { FAMILIES, familyOf, type Ip } from '../../src/net/index.ts';
import { createProxy, type RunningProxy } from '../../src/proxy/index.ts';
import { ConnectionCrowd } from './connection-crowd.ts';
import { type LabMode, labMode } from './lab-mode.ts';
import { slice } from './objects.ts';
import { STRICT_LISTENERS, TEST_LIVE } from './strict-proxy.ts';
import { waitFor } from './wait-for.ts';

const ENDPOINT_PORT = 8080;

/** A cluster with clients, endpoints that accept any number of connections, and a proxy that ends connections. */
export class EndingLab {
  readonly cluster = Cluster.create();
  readonly proxy: RunningProxy;
  readonly reports: EndReport[] = [];
  readonly #clients: NetworkNamespace[] = [];
  readonly #crowds: ConnectionCrowd[] = [];
  readonly #listeners: number[] = [];
  readonly #conntrack: ConntrackSocket;
  readonly #slices = new Map<string, EndpointSlice>();

  constructor(mode: LabMode) {
    this.#conntrack = ConntrackSocket.open({ namespace: this.cluster.node });
    this.proxy = createProxy(
      {
        nodeName: 'node-a',
        families: FAMILIES,
        namespace: this.cluster.node,
        mode: labMode(mode, this.cluster.node),
        live: TEST_LIVE,
        clientNamespaces: () => this.#clients.map(({ path }) => path),
      },
      { ...STRICT_LISTENERS, connectionsEnded: (_family, report) => this.reports.push(report) },
    );
    this.proxy.loop.synced();
  }

  /** A pod of the node whose network namespace the proxy can enter. */
  addClient(ip: Ip): NetworkNamespace {
    const pod = this.cluster.addPod(ip, undefined, { sendsThroughNode: true });
    this.#clients.push(pod);
    return pod;
  }

  addEndpoint(ip: Ip): void {
    const namespace = this.cluster.addPod(ip, undefined, { sendsThroughNode: true });
    writeSysctl('net/core/somaxconn', 65535, namespace);
    const listener = listenStream(namespace, familyOf(ip), ip, ENDPOINT_PORT, { keepAliveSeconds: 3600 });
    this.#listeners.push(listener);
  }

  async setService(to: Service, endpoints: readonly Ip[]): Promise<void> {
    this.proxy.loop.serviceChanged({ type: 'added', to });
    await this.setEndpoints(to.metadata.name, endpoints);
  }

  async setEndpoints(service: string, endpoints: readonly Ip[]): Promise<void> {
    const to = slice(`${service}-1`, endpoints);
    const from = this.#slices.get(service);
    this.#slices.set(service, to);
    this.proxy.loop.endpointSliceChanged(from ? { type: 'updated', from, to } : { type: 'added', to });
    await this.proxy.loop.settled();
  }

  /** Opens connections and waits until the endpoints have accepted them. */
  async connect(client: NetworkNamespace, ip: Ip, port: number, count: number): Promise<ConnectionCrowd> {
    const crowd = this.begin(client, ip, port, count);
    await waitFor('all connections are open', () => crowd.areConnected());
    return crowd;
  }

  /** The same without waiting. */
  begin(client: NetworkNamespace, ip: Ip, port: number, count: number): ConnectionCrowd {
    const crowd = new ConnectionCrowd(client, ip, port, count);
    this.#crowds.push(crowd);
    return crowd;
  }

  /** The endpoint of each connection to this address, by the client's port. */
  endpointsOf(dst: Ip, dstPort: number): ReadonlyMap<number, Ip> {
    const flows = this.#conntrack.dump({ family: familyOf(dst), protocol: L4.TCP, original: { dst, dstPort } });
    return new Map(Array.from(flows, ({ original, reply }) => [original.srcPort, reply.src]));
  }

  async close(): Promise<void> {
    for (const crowd of this.#crowds) crowd.close();
    for (const listener of this.#listeners) closeRaw(listener);
    await this.proxy.close();
    this.#conntrack.close();
    this.cluster.close();
  }
}
