import type { Node } from '../api/index.ts';
import { behaviourNow, type OutcomeContext } from '../explain/index.ts';
import type { InspectedProxy } from '../inspect/index.ts';
import type { OwnControlGroup } from '../kernel/bpf/index.ts';
import { KernelError } from '../kernel/errors.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Algorithm } from '../model/index.ts';
import { type ConfiguredMode, DEFAULT_MODE, type ModeBehaviour } from '../modes/index.ts';
import { FAMILIES, type Family, type Ip, parseIp } from '../net/index.ts';
import { FilesSource, type SourceHandlers } from '../source/index.ts';
import { type Callers, callerFrom, callersIn, DEFAULT_CALLERS, type Place } from './caller.ts';
import { DemoProxy, NODE_NAME } from './demo-proxy.ts';
import { EchoServers } from './echo-servers.ts';
import { type Observation, observationOf } from './observation.ts';
import { enterOwnGroup, socketsIn } from './own-sockets.ts';
import { Cluster, type ProbeProtocol, probe } from './playground/index.ts';
import { Pods } from './pods.ts';
import { type Row, rowsOf } from './rows.ts';

export interface DemoOptions {
  /** A folder of manifests, or one file. */
  readonly manifests: string;
  /** Called when plans or problems have changed. */
  readonly onChange: () => void;
  /** The default is the mode of a proxy whose configuration names none. */
  readonly mode?: ConfiguredMode;
  /** The algorithm of Services that choose none. The default is what the mode does without a choice. */
  readonly defaultBalance?: Algorithm | undefined;
  /** The default is both. */
  readonly families?: readonly Family[];
  /** The node of the manifests that the proxy runs on. */
  readonly nodeName?: string;
}

/** How does the address of a row answer callers at a place? */
export interface Question {
  readonly row: Row;
  readonly place: Place;
}

/** How often and how long a question is asked. */
export interface Asking {
  readonly tries: number;
  readonly timeoutMs: number;
}

/**
 * A relay of userspace mode forgets a UDP client after 250 ms without a datagram. If a busy machine answers later, the
 * answer is lost, and the client has to ask again, as DNS clients do.
 */
const RESEND_MS = 300;

/** A cluster of network namespaces, a proxy on its node, and an echo server at every endpoint. */
export class Demo {
  readonly #cluster: Cluster;
  readonly #proxy: DemoProxy;
  readonly #pods: Pods;
  readonly #servers: EchoServers;
  readonly #source: FilesSource;
  readonly #group: OwnControlGroup | undefined;
  readonly behaviour: ModeBehaviour;
  #callers = DEFAULT_CALLERS;
  /** The mode serves only the sockets of the callers that it knows. */
  #areCallersFixed = false;
  #contexts: Readonly<Record<Family, OutcomeContext>>;
  #addressProblems: readonly string[] = [];

  private constructor(
    cluster: Cluster,
    group: OwnControlGroup | undefined,
    { manifests, onChange, mode = DEFAULT_MODE, ...options }: DemoOptions,
  ) {
    const { nodeName = NODE_NAME, families = FAMILIES } = options;
    this.#cluster = cluster;
    this.#group = group;
    this.behaviour = mode.behaviour;
    this.#proxy = new DemoProxy({
      namespace: cluster.node,
      onChange,
      mode,
      families,
      nodeName,
      defaultBalance: options.defaultBalance,
      socketScope: group && socketsIn(group, () => this.#fixedCallers()),
    });
    this.#contexts = this.#readContexts();
    this.#pods = new Pods(cluster, () => this.#proxy.interfaceIPs());
    this.#servers = new EchoServers(this.#pods);
    this.#source = new FilesSource({ path: manifests, nodeName, localNode: () => localNode(nodeName) });
  }

  static async start(options: DemoOptions): Promise<Demo> {
    const cluster = Cluster.create();
    let group: OwnControlGroup | undefined;
    let demo: Demo | undefined;
    try {
      group = enterOwnGroup(options.mode);
      demo = new Demo(cluster, group, options);
      await demo.#source.start(demo.#handlers());
      return demo;
    } catch (error) {
      if (demo) {
        await demo.close();
      } else {
        cluster.close();
        group?.leave();
      }
      throw error;
    }
  }

  /** The current problems of the manifests, the proxy and the echo servers. */
  get problems(): readonly string[] {
    return [...this.#proxy.problems, ...this.#addressProblems, ...this.#servers.problems];
  }

  /** What the operator's page shows of the proxy. `version` is that of Pointsman. */
  inspected(version: string): InspectedProxy {
    return this.#proxy.inspected(this.#source.objects, version);
  }

  /** The network namespace of the proxy. */
  get namespace(): NetworkNamespace {
    return this.#cluster.node;
  }

  /** The addresses that the demo calls from. They are those of the rows that were read last. */
  get callers(): Callers {
    return this.#callers;
  }

  /** What connections depend on besides the plans of the rows that were read last. */
  outcomeContext(family: Family): OutcomeContext {
    return this.#contexts[family];
  }

  /** Returns all frontends, as soon as they are programmed and every endpoint has an echo server. */
  async rows(): Promise<readonly Row[]> {
    await this.#proxy.settled();
    const { state } = this.#proxy.loop;
    await this.#servers.serve(state);
    this.#chooseCallers();
    this.#contexts = this.#readContexts();
    const rows = rowsOf(state, family => this.#contexts[family].settings.nodePortIPs);
    for (const { ip, frontend } of rows)
      if (ip !== undefined && frontend.ip !== undefined) this.#cluster.routeService(ip);
    return rows;
  }

  #chooseCallers(): void {
    if (this.#areCallersFixed) return;
    this.#callers = callersIn(this.#proxy.loop.state, this.#proxy.interfaceIPs(), this.#callers);
  }

  /** The pod and the node. To sockets, the client outside is on another machine. */
  #fixedCallers(): readonly NetworkNamespace[] {
    this.#chooseCallers();
    this.#areCallersFixed = true;
    const pods = FAMILIES.map(family => this.#pods.ensure({ ip: this.#callers.pod[family], isLocal: true }));
    return [this.#cluster.node, ...pods];
  }

  #readContexts(): Readonly<Record<Family, OutcomeContext>> {
    const nodeIPs = this.#proxy.interfaceIPs();
    const mode = { behaviour: behaviourNow(this.behaviour, this.#proxy.condition()) };
    const context = (family: Family) => ({ mode, settings: this.#proxy.modeSettings(family), nodeIPs });
    return { IPv4: context('IPv4'), IPv6: context('IPv6') };
  }

  #handlers(): SourceHandlers {
    const { handlers } = this.#proxy;
    return {
      ...handlers,
      nodeChanged: change => {
        // The machine gets the addresses before the proxy looks for them.
        if (change.type !== 'removed') this.#addNodeAddresses(change.to);
        handlers.nodeChanged(change);
      },
    };
  }

  /** The Node of the manifests may have addresses that the machine does not have yet. */
  #addNodeAddresses({ addresses }: Node): void {
    this.#addressProblems = [];
    const present = this.#proxy.interfaceIPs();
    for (const { type, address } of addresses) {
      const ip = parseIp(address);
      if (type !== 'InternalIP' || ip === undefined || present.includes(ip)) continue;
      try {
        this.#cluster.addNodeAddress(ip);
      } catch (error) {
        if (!(error instanceof RangeError || error instanceof KernelError)) throw error;
        this.#addressProblems = [...this.#addressProblems, `the node cannot have ${ip}: ${error.message}`];
      }
    }
  }

  /** Tries until this many tries in a row have shown nothing new. Returns undefined if the demo cannot ask. */
  async ask({ row, place }: Question, options: Asking): Promise<Observation | undefined> {
    const { family, protocol } = row.port;
    if (row.ip === undefined || !isProbed(protocol)) return undefined;
    const caller = callerFrom(place, family, this.#callers);
    const namespace = this.#namespaceOf(place, caller.ip);
    const result = await probe(namespace, row.ip, row.frontend.port, protocol, { ...options, resendMs: RESEND_MS });
    return observationOf(result, caller, [...this.#proxy.interfaceIPs(), row.ip]);
  }

  async close(): Promise<void> {
    await this.#source.close();
    await this.#proxy.close();
    await this.#servers.close();
    this.#cluster.close();
    this.#group?.leave();
  }

  #namespaceOf(place: Place, ip: Ip): NetworkNamespace {
    switch (place) {
      case 'pod':
        return this.#pods.ensure({ ip, isLocal: true });
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
function localNode(name: string): Node {
  return {
    kind: 'Node',
    metadata: { name, namespace: '', labels: {}, annotations: {} },
    podCIDRs: [],
    addresses: FAMILIES.map(family => ({ type: 'InternalIP', address: callerFrom('node', family).ip })),
  };
}
