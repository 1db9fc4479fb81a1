import { Cluster } from '../../../src/demo/playground/index.ts';
import { hierarchyFolder } from '../../../src/kernel/bpf/cgroup.ts';
import type { Ip } from '../../../src/net/index.ts';
import { ControlPlane } from '../../control-plane/control-plane.ts';
import { NODE } from '../../control-plane/node-object.ts';
import { Program, type ProgramExit } from '../../control-plane/program.ts';
import { Relay } from '../../e2e/relay.ts';
import { TestNode } from '../../e2e/test-node.ts';
import { MountHolder } from '../../support/mount-holder.ts';
import { runIn, runNftScript } from '../../support/run-in.ts';
import type { Fault, Impairment } from '../faults/fault.ts';
import type { Violation } from '../invariants/violation.ts';
import { Access } from './access.ts';
import { Clients } from './clients.ts';
import { ControlGroup } from './control-group.ts';
import type { EventLog } from './event-log.ts';
import { Impairments } from './impairments.ts';
import { Ledger } from './ledger.ts';
import { addressesOf, Load } from './load.ts';
import { impairmentsOf, MODES, type ModeName } from './modes.ts';
import { ProxyUnderTest } from './proxy.ts';
import { ALL, FIRST_PORT, LAST_PORT, LOCAL_PODS, REMOTE_PODS, STABLE } from './services.ts';
import { Starvation } from './starvation.ts';

export interface WorldOptions {
  readonly seed: number;
  readonly mode: ModeName;
  readonly log: EventLog;
  onEnd(exit: ProgramExit, lines: readonly string[]): void;
  onViolation(violation: Violation): void;
}

/** A small cluster with a real API server, the proxy under test, a load of changes, and clients. */
export class World {
  readonly network = Cluster.create();
  readonly group = hierarchyFolder() === undefined ? undefined : new ControlGroup();
  readonly access = new Access();
  readonly ledger = new Ledger();
  readonly impairments = new Impairments();
  readonly starvation: Starvation;
  readonly log: EventLog;
  readonly node: TestNode;
  readonly #options: WorldOptions;
  readonly #servers: Program[] = [];
  #parts: Parts | undefined;
  /** Since when the configuration file is not valid. Undefined if it is valid. */
  misconfiguredAt: number | undefined;
  /** Since when the API server is stopped. Undefined if it runs. */
  apiStoppedAt: number | undefined;
  /** A fault runs, or the proxy has not recovered from it yet. */
  isImpaired = true;

  private constructor(options: WorldOptions) {
    this.#options = options;
    this.log = options.log;
    this.starvation = new Starvation(() => [this.#parts?.proxy?.pid, this.#parts?.cluster?.apiserverPid]);
    this.node = new TestNode(this.network.node);
  }

  /** Resolves when the proxy runs and the clients are at work. */
  static async open(options: WorldOptions): Promise<World> {
    const world = new World(options);
    try {
      await world.#start();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  get cluster(): ControlPlane {
    return this.#part('cluster');
  }

  get relay(): Relay {
    return this.#part('relay');
  }

  get proxy(): ProxyUnderTest {
    return this.#part('proxy');
  }

  get load(): Load {
    return this.#part('load');
  }

  get clients(): Clients {
    return this.#part('clients');
  }

  /** The mounts of the proxy. They have a bpffs of their own, so the pins of ebpf mode end with the run. */
  get mounts(): MountHolder {
    return this.#part('mounts');
  }

  /** The modes that this machine has. */
  get modes(): readonly ModeName[] {
    return MODES.filter(mode => mode !== 'ebpf' || this.group !== undefined);
  }

  /** The names of all pins of the proxy. */
  pins(): readonly string[] {
    const [program = '', ...args] = this.mounts.command('find', '/sys/fs/bpf', '-path', '*/pointsman*');
    return runIn(this.network.node, program, args).split('\n').filter(Boolean).sort();
  }

  /**
   * Adds rules that need connection tracking and translation, as those of a network plugin on real nodes. Without any
   * such rule the kernel no longer translates the packets of established connections, so a program that deletes our
   * table would end them.
   */
  keepNat(): void {
    const rule = 'oifname "no-such-link" masquerade';
    const chain = `chain postrouting {\n type nat hook postrouting priority 90;\n ${rule}\n }\n`;
    const tables = ['ip', 'ip6'].map(family => `table ${family} network-plugin {\n${chain}}\n`);
    runNftScript(this.network.node, tables.join(''));
  }

  /** The fault begins. */
  suffer(fault: Fault): void {
    this.impair(impairmentsOf(fault, this.proxy.mode));
  }

  impair(kinds: readonly Impairment[]): void {
    if (kinds.length === 0) return;
    this.isImpaired = true;
    this.impairments.begin(kinds, performance.timeOrigin + performance.now());
  }

  /** The proxy has recovered from all faults. */
  recovered(): void {
    this.isImpaired = false;
    this.impairments.endAll(performance.timeOrigin + performance.now());
  }

  /** An invariant that only a fault can check did not hold. */
  violated(violation: Violation): void {
    this.#options.onViolation(violation);
  }

  async close(): Promise<void> {
    const { proxy, clients, load, relay, cluster, mounts } = this.#parts ?? {};
    this.starvation.close();
    await proxy?.stop('SIGKILL');
    // A signal to all processes of a terminal may have ended the API server, so the load ends after it.
    const loadEnds = load?.close();
    await clients?.close();
    relay?.close();
    await Promise.all(this.#servers.map(server => server.stop('SIGKILL')));
    await cluster?.close();
    await loadEnds;
    await mounts?.close();
    await this.node.close();
    await this.group?.close();
    this.network.close();
    this.access.close();
  }

  async #start(): Promise<void> {
    const { network, access, ledger, log } = this;
    const { seed, mode, onEnd } = this.#options;
    const parts: Parts = {};
    this.#parts = parts;
    parts.mounts = await MountHolder.withBpffs();
    const namespace = network.node;
    this.keepNat();
    parts.cluster = await ControlPlane.start({ namespace, apiserverArgs: access.apiserverArgs });
    await parts.cluster.apply(NODE);
    await this.#startPods();
    parts.load = new Load(parts.cluster, ledger, log, seed);
    await parts.load.prepare();
    await parts.cluster.etcd.backUp();
    parts.relay = await Relay.open(namespace);
    const kubeconfig = access.kubeconfig(parts.relay.url);
    const onLines = (lines: readonly string[]) => log.keep('kube-proxy', lines);
    const place = { namespace, mounts: parts.mounts, cgroupRoot: this.group?.path };
    parts.proxy = new ProxyUnderTest({ ...place, access, kubeconfig, mode, onEnd, onLines });
    parts.proxy.start();
    const places = [
      // Connections of this client meet the programs of ebpf mode, if they are there.
      { name: 'node', namespace, group: this.group },
      { name: 'ext', namespace: network.host('ext') },
    ];
    const addresses = [...new Set(ALL.flatMap(addressesOf))];
    parts.clients = new Clients(places, addresses, STABLE.flatMap(addressesOf));
    this.impair(['knowledge', 'rules']);
    parts.load.start();
  }

  async #startPods(): Promise<void> {
    const serve = (name: string, namespace: (typeof this.network)['node']) => {
      const ports = [FIRST_PORT, LAST_PORT].map(String);
      const command = [process.execPath, 'test/chaos/world/endpoint-server.mjs', ...ports];
      const program = new Program(name, command, { namespace });
      this.#servers.push(program);
      return program.until('listening');
    };
    for (const ip of REMOTE_PODS) this.network.addPod(ip as Ip);
    await serve('pods', this.network.host('other-node'));
    for (const ip of LOCAL_PODS) await serve(ip, this.network.addPod(ip as Ip));
  }

  #part<K extends keyof Parts>(name: K): NonNullable<Parts[K]> {
    const part = this.#parts?.[name];
    if (!part) throw new Error(`the world has no ${name}`);
    return part;
  }
}

interface Parts {
  mounts?: MountHolder;
  cluster?: ControlPlane;
  relay?: Relay;
  proxy?: ProxyUnderTest;
  load?: Load;
  clients?: Clients;
}
