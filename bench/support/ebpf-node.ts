import type { EndpointSlice } from '../../src/api/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { ebpfAround } from '../../src/modes/ebpf/index.ts';
import type { ModeEvents } from '../../src/modes/index.ts';
import { nftables } from '../../src/modes/nftables/index.ts';
import { FAMILIES, type Family, type Ip } from '../../src/net/index.ts';
import { makeService, makeSlices } from './cluster.ts';
import { Clients } from './datapath.ts';
import { BenchGroup, EbpfLab, NO_BPFFS, SERVER_IP } from './ebpf-lab.ts';
import { type BenchMode, NodeProxy } from './node-proxy.ts';
import { CALLERS, type Way } from './slices.ts';
import type { SocketAddress } from './socket-load.ts';

/** A Service of the cluster, with the one endpoint in the lab that answers. */
export interface Answered {
  readonly service: SocketAddress;
  readonly endpoint: SocketAddress;
}

/** The most Services of the lab. Those that answer have numbers from here on. */
const FIRST_ANSWERED = 60_000;
const FIRST_PORT = 9000;

const ebpf = ebpfAround(nftables);

/** ebpf mode with its nftables rules, for the processes of one control group only. */
export function openEbpfMode(
  namespace: NetworkNamespace,
  events: ModeEvents,
  group: BenchGroup,
  families: readonly Family[] = FAMILIES,
): BenchMode {
  const options = { sockets: { sockets: 'all', cgroupRoot: group.path, bpffs: NO_BPFFS }, network: {} } as const;
  // The only notice says that the programs are not pinned.
  return ebpf.create(options, { namespace, families, events: { ...events, notice() {} } });
}

/** A node in ebpf mode, with clients. Clients outside of its control group get nftables mode. */
export class EbpfNode {
  readonly lab = new EbpfLab();
  readonly group = new BenchGroup();
  readonly #proxy = new NodeProxy(this.lab.node.namespace, {
    open: (namespace, events) => openEbpfMode(namespace, events, this.group),
  });
  #clients: Clients | undefined;
  #answered = 0;
  #services = 0;

  async start(): Promise<void> {
    this.#clients = await Clients.start(this.lab, this.group);
  }

  get clients(): Clients {
    if (!this.#clients) throw new Error('the clients are not started');
    return this.#clients;
  }

  /** Adds a Service whose endpoint answers. `closesAtOnce`: it closes each connection at once. */
  async addAnswered(closesAtOnce = false): Promise<Answered> {
    const index = this.#answered++;
    const number = FIRST_ANSWERED + index;
    const endpoint = { ip: SERVER_IP, port: FIRST_PORT + index };
    await this.clients.addServer({ ...endpoint, closesAtOnce });
    const service = makeService(number);
    this.#proxy.service(service);
    for (const slice of makeSlices(number, 1)) this.#proxy.endpointSlice(movedTo(slice, endpoint));
    await this.#proxy.write(this.#proxy.take());
    return { service: { ip: service.spec.clusterIP as Ip, port: 80 }, endpoint };
  }

  /** Fills up to this number of Services, with five endpoints each that do not exist. */
  async fill(services: number): Promise<void> {
    for (; this.#services + this.#answered < services; this.#services++) {
      this.#proxy.service(makeService(this.#services));
      for (const slice of makeSlices(this.#services, 5)) this.#proxy.endpointSlice(slice);
    }
    await this.#proxy.write(this.#proxy.take());
  }

  /** The addresses of the Services that `fill` added, in an order that no cache likes. */
  filled(): readonly SocketAddress[] {
    return Array.from({ length: this.#services }, (_, i) => ({
      ip: makeService((i * 7919) % this.#services).spec.clusterIP as Ip,
      port: 80,
    }));
  }

  /** Fails if the ways are not what they should be, because the figures would be worth nothing. */
  async checkWays({ service, endpoint }: Answered): Promise<void> {
    for (const caller of CALLERS) {
      for (const [way, isWanted] of [
        ['nftables', false],
        ['ebpf', true],
      ] as const satisfies [Way, boolean][]) {
        const isTranslated = await this.clients.isTranslated(caller, way, service, endpoint);
        if (isTranslated !== isWanted) throw new Error(`${caller}, ${way}: translated at the socket: ${isTranslated}`);
      }
    }
  }

  async close(): Promise<void> {
    await this.#clients?.stop();
    await this.#proxy.close();
    this.group.close();
    this.lab.close();
  }
}

function movedTo(slice: EndpointSlice, { ip, port }: SocketAddress): EndpointSlice {
  return {
    ...slice,
    ports: slice.ports.map(each => ({ ...each, port })),
    endpoints: slice.endpoints.map(endpoint => ({ ...endpoint, addresses: [ip] })),
  };
}
