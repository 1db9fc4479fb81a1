import type { ControlPlaneOptions, ProxyOptions } from '../control-plane/control-plane.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { NODE } from '../control-plane/node-object.ts';
import type { KubeObject } from '../control-plane/objects.ts';
import type { Program } from '../control-plane/program.ts';
import { TestNode } from './test-node.ts';

type Fields = Readonly<Record<string, unknown>>;

export const ALL_SYNCED = '"Synced everything" ipFamily="IPv6"';
const PATIENCE_MS = 10_000;

export interface StageOptions extends ControlPlaneOptions {
  /** The node's object, which is there before any proxy; none if null. */
  readonly nodeObject?: KubeObject | null;
}

/** A control plane, a node, and the proxy that was started last. */
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

  /** Changes are written at once, unless the configuration says otherwise. */
  start(configuration: Fields = {}, options: ProxyOptions = {}): Program {
    this.#proxy = this.cluster.startProxy({ nftables: { minSyncPeriod: '10ms' }, ...configuration }, options);
    return this.#proxy;
  }

  /** Waits until all that is in the cluster is in the kernel, too. */
  async run(configuration: Fields = {}, options: ProxyOptions = {}): Promise<Program> {
    const proxy = this.start(configuration, options);
    await proxy.until(ALL_SYNCED);
    return proxy;
  }

  /** Rejected with the proxy's last lines if it is not so in time. */
  until(what: string, isDone: () => boolean | Promise<boolean>, patienceMs = PATIENCE_MS): Promise<void> {
    return this.proxy.waitFor(what, isDone, patienceMs);
  }

  untilEndpoints(ip: string, endpoints: readonly string[], patienceMs = PATIENCE_MS): Promise<void> {
    const isSo = () => String(this.node.endpointsOf(ip)) === String(endpoints);
    return this.until(`lead ${ip} to ${endpoints.join(', ') || 'nowhere'}`, isSo, patienceMs);
  }

  async close(): Promise<void> {
    await this.node.close();
    await this.cluster.close();
  }
}
