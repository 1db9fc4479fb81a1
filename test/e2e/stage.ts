import type { ControlPlaneOptions, ProxyOptions } from '../control-plane/control-plane.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { NODE } from '../control-plane/node-object.ts';
import type { KubeObject } from '../control-plane/objects.ts';
import type { Program } from '../control-plane/program.ts';
import { TestNode } from './test-node.ts';

type Fields = Readonly<Record<string, unknown>>;

export const ALL_SYNCED = '"Synced all service ports" ipFamily="IPv6"';
const TIMEOUT_MS = 10_000;

export interface StageOptions extends ControlPlaneOptions {
  /** The Node object, which exists before any proxy starts. Null means that there is none. */
  readonly nodeObject?: KubeObject | null;
}

/** A control plane, a node, and a proxy. `proxy` is the one that was started last. */
export class Stage {
  readonly cluster: ControlPlane;
  readonly node: TestNode;
  #proxy: Program | undefined;

  private constructor(cluster: ControlPlane) {
    this.cluster = cluster;
    this.node = new TestNode(cluster.namespace);
  }

  static async open({ nodeObject = NODE, ...options }: StageOptions = {}): Promise<Stage> {
    const cluster = await ControlPlane.start(options);
    if (nodeObject) await cluster.apply(nodeObject);
    return new Stage(cluster);
  }

  get proxy(): Program {
    if (!this.#proxy) throw new Error('no proxy was started');
    return this.#proxy;
  }

  /** Starts a proxy. By default it writes changes at once. */
  start(configuration: Fields = {}, options: ProxyOptions = {}): Program {
    this.#proxy = this.cluster.startProxy({ nftables: { minSyncPeriod: '10ms' }, ...configuration }, options);
    return this.#proxy;
  }

  /** Starts a proxy and waits until the kernel has all objects of the cluster. */
  async run(configuration: Fields = {}, options: ProxyOptions = {}): Promise<Program> {
    const proxy = this.start(configuration, options);
    await proxy.until(ALL_SYNCED);
    return proxy;
  }

  /** Rejects with the last lines of the proxy's log if `isDone` does not return true in time. */
  until(what: string, isDone: () => boolean | Promise<boolean>, timeoutMs = TIMEOUT_MS): Promise<void> {
    return this.proxy.waitFor(what, isDone, timeoutMs);
  }

  untilEndpoints(ip: string, endpoints: readonly string[], timeoutMs = TIMEOUT_MS): Promise<void> {
    const isProgrammed = () => String(this.node.endpointsOf(ip)) === String(endpoints);
    return this.until(`lead ${ip} to ${endpoints.join(', ') || 'nowhere'}`, isProgrammed, timeoutMs);
  }

  async close(): Promise<void> {
    await this.node.close();
    await this.cluster.close();
  }
}
