import type { Ip } from '../../src/net/index.ts';
import { ControlPlane } from '../../test/control-plane/control-plane.ts';
import { NODE } from '../../test/control-plane/node-object.ts';
import { runIn } from '../../test/support/run-in.ts';
import type { Recorder } from '../record/result.ts';
import type { FigureHead } from '../record/statistics.ts';
import { type Size, sizeName } from '../support/cluster.ts';
import type { SocketAddress } from '../support/socket-load.ts';
import { create, loadObjects } from './api.ts';
import { Connector } from './connector.ts';
import { ScaleNetwork } from './network.ts';
import { clusterIp, POD_PORT, SERVICE_PORT } from './objects.ts';
import { Probe } from './probe.ts';
import { RunningProxy } from './running-proxy.ts';
import type { Subject } from './subjects.ts';

/** How thoroughly a run measures. */
export interface Effort {
  /** Cold starts of each program. */
  readonly rounds: number;
  /** Single changes of each program. */
  readonly changes: number;
  readonly churnMs: number;
  /** Changes of slices a second. */
  readonly churnRate: number;
  /** The pause after which a proxy has nothing left to do. Upstream's proxies sync at most once a second. */
  readonly settleMs: number;
}

/** Services that are tried until all of them connect. */
const SAMPLED_SERVICES = 200;

/** One size of a cluster: an API server with all objects, a node, and processes that connect. */
export class Stage {
  readonly size: Size;
  readonly mode: string;
  readonly effort: Effort;
  readonly recorder: Recorder;
  readonly #network = new ScaleNetwork();
  readonly #closing: (() => Promise<void>)[] = [];
  #cluster: ControlPlane | undefined;
  #connector: Connector | undefined;
  #probe: Probe | undefined;
  #proxy: RunningProxy | undefined;
  #closed: Promise<void> | undefined;

  constructor(size: Size, mode: string, effort: Effort, recorder: Recorder) {
    this.size = size;
    this.mode = mode;
    this.effort = effort;
    this.recorder = recorder;
  }

  /** Loads all objects. Returns how long that took, in milliseconds. */
  async open(): Promise<number> {
    const { node, pods } = this.#network;
    const cluster = await ControlPlane.start({ namespace: node.namespace });
    this.#cluster = cluster;
    this.#closing.push(() => cluster.close());
    const server = await Connector.start(pods.namespace);
    this.#closing.push(() => server.end());
    await server.serve({ ip: '0.0.0.0' as Ip, port: POD_PORT });
    const connector = await Connector.start(node.namespace);
    this.#connector = connector;
    this.#closing.push(() => connector.end());
    await cluster.apply(NODE);
    const spent = await loadObjects(cluster, this.size);
    this.#probe = new Probe(cluster, connector, this.size.services, this.effort.settleMs);
    for (const object of this.#probe.objects()) await create(cluster, object);
    return spent;
  }

  get cluster(): ControlPlane {
    return opened(this.#cluster);
  }

  get connector(): Connector {
    return opened(this.#connector);
  }

  get probe(): Probe {
    return opened(this.#probe);
  }

  /** The proxy that runs now. */
  get proxy(): RunningProxy {
    return opened(this.#proxy);
  }

  startProxy(subject: Subject): RunningProxy {
    this.#proxy = new RunningProxy(this.cluster, subject, this.mode);
    return this.#proxy;
  }

  async stopProxy(): Promise<void> {
    const proxy = this.#proxy;
    this.#proxy = undefined;
    await proxy?.stop();
  }

  /** Removes all rules, those of iptables included. */
  flushRules(): void {
    runIn(this.cluster.namespace, 'nft', ['flush', 'ruleset']);
  }

  /** The probe's Service, and Services from all over the cluster with the first and the last one. */
  sampledAddresses(): readonly SocketAddress[] {
    const { services } = this.size;
    const count = Math.min(services, SAMPLED_SERVICES);
    const step = count > 1 ? (services - 1) / (count - 1) : 0;
    return [this.probe.address, ...Array.from({ length: count }, (_, i) => addressOfService(Math.round(i * step)))];
  }

  allAddresses(): readonly SocketAddress[] {
    return Array.from({ length: this.size.services }, (_, i) => addressOfService(i));
  }

  head(part: string, subject: Subject, figure: Pick<FigureHead, 'name' | 'unit' | 'kind'>): FigureHead {
    return { part, size: sizeName(this.size), subject: subject.name, ...figure };
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.stopProxy();
    for (const close of this.#closing.splice(0).reverse()) await close();
    this.#network.close();
  }
}

export function addressOfService(index: number): SocketAddress {
  return { ip: clusterIp(index) as Ip, port: SERVICE_PORT };
}

function opened<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the stage is not open, or no proxy runs');
  return value;
}
