import type { Node } from '../api/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { FAMILIES, type Ip } from '../net/index.ts';
import { FilesSource } from '../source/index.ts';
import { callerFrom, type Place } from './caller.ts';
import { DemoProxy, NODE_NAME } from './demo-proxy.ts';
import { EchoServers } from './echo-servers.ts';
import { type Observation, observationOf } from './observation.ts';
import { Cluster, type ProbeProtocol, probe } from './playground/index.ts';
import { Pods } from './pods.ts';
import { type Row, rowsOf } from './rows.ts';

export interface DemoOptions {
  /** A folder of manifests, or one file. */
  readonly manifests: string;
  /** Called when plans or problems have changed. */
  readonly onChange: () => void;
}

/** How does the address of a row answer callers at a place? */
export interface Question {
  readonly row: Row;
  readonly place: Place;
}

const ANSWER_TIMEOUT_MS = 500;

/** A cluster of network namespaces, a proxy on its node, and an echo server at every endpoint. */
export class Demo {
  readonly #cluster: Cluster;
  readonly #proxy: DemoProxy;
  readonly #pods: Pods;
  readonly #servers: EchoServers;
  readonly #source: FilesSource;

  private constructor(cluster: Cluster, { manifests, onChange }: DemoOptions) {
    this.#cluster = cluster;
    this.#proxy = new DemoProxy(cluster.node, onChange);
    this.#pods = new Pods(cluster);
    this.#servers = new EchoServers(this.#pods);
    this.#source = new FilesSource({ path: manifests, nodeName: NODE_NAME, localNode });
  }

  static async start(options: DemoOptions): Promise<Demo> {
    const cluster = Cluster.create();
    let demo: Demo | undefined;
    try {
      demo = new Demo(cluster, options);
      await demo.#source.start(demo.#proxy.handlers);
      return demo;
    } catch (error) {
      if (demo) await demo.close();
      else cluster.close();
      throw error;
    }
  }

  /** The current problems of the manifests, the proxy and the echo servers. */
  get problems(): readonly string[] {
    return [...this.#proxy.problems, ...this.#servers.problems];
  }

  /** Returns all frontends, as soon as they are programmed and every endpoint has an echo server. */
  async rows(): Promise<readonly Row[]> {
    await this.#proxy.settled();
    const { state } = this.#proxy.loop;
    await this.#servers.serve(state);
    return rowsOf(state, family => this.#proxy.nodePortIPs(family));
  }

  /** Tries until this many tries in a row have shown nothing new. Returns undefined if the demo cannot ask. */
  async ask({ row, place }: Question, tries: number): Promise<Observation | undefined> {
    const { family, protocol } = row.port;
    if (row.ip === undefined || !isProbed(protocol)) return undefined;
    const caller = callerFrom(place, family);
    const namespace = this.#namespaceOf(place, caller.ip);
    const options = { tries, timeoutMs: ANSWER_TIMEOUT_MS };
    const result = await probe(namespace, row.ip, row.frontend.port, protocol, options);
    return observationOf(result, caller, this.#proxy.interfaceIPs());
  }

  async close(): Promise<void> {
    await this.#source.close();
    await this.#proxy.close();
    await this.#servers.close();
    this.#cluster.close();
  }

  #namespaceOf(place: Place, ip: Ip): NetworkNamespace {
    switch (place) {
      case 'pod':
        return this.#pods.ensure(ip);
      case 'node':
        return this.#cluster.node;
      case 'outside':
        return this.#cluster.host('ext');
    }
  }
}

/** The demo does not probe SCTP, because not every kernel has a module for it. */
function isProbed(protocol: Row['port']['protocol']): protocol is ProbeProtocol {
  return protocol !== 'SCTP';
}

/** The Node object that the demo uses when the manifests have none. */
function localNode(): Node {
  return {
    kind: 'Node',
    metadata: { name: NODE_NAME, namespace: '', labels: {}, annotations: {} },
    podCIDRs: [],
    addresses: FAMILIES.map(family => ({ type: 'InternalIP', address: callerFrom('node', family).ip })),
  };
}
