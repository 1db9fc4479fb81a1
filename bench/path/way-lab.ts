import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Machine } from '../../src/demo/playground/machine.ts';
import { hostCidr, type Ip } from '../../src/net/index.ts';
import type { ControlPlane } from '../../test/control-plane/control-plane.ts';
import { Program } from '../../test/control-plane/program.ts';
import { proxyConfigurationText } from '../../test/control-plane/proxy-configuration.ts';
import { NODE_IP } from '../../test/support/namespaces.ts';
import { POD_RANGE } from '../scale/objects.ts';
import { OURS } from '../scale/subjects.ts';
import { BenchGroup, EbpfLab, SERVER_IP } from '../support/ebpf-lab.ts';
import { Role } from '../support/role.ts';
import type { Load, SocketAddress } from '../support/socket-load.ts';
import type { Operation, Targets } from './operations.ts';
import { PLAYER, type Question } from './player.ts';
import { RELAYING_MODE, type Way } from './ways.ts';

export const TCP_ENDPOINT: SocketAddress = { ip: SERVER_IP, port: 8080 };
export const UDP_ENDPOINT: SocketAddress = { ip: SERVER_IP, port: 8053 };

/** The time until ebpf mode serves sockets after the rules are there. */
const SOCKETS_MS = 20_000;
const LOOK_MS = 100;
const SHOWN_LINES = 20;

/** Hides the machine's file system for BPF objects, so that the proxy pins nothing there. */
const WITHOUT_BPFFS = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /sys/fs/bpf && exec "$@"', 'sh'];

/** What one slice of time was. */
export interface WayLoad extends Load {
  /** Milliseconds of processor time: client, server and node together. */
  readonly totalCpuMs: number;
}

/** The node, the pods and the proxy of one way. All ways are there at the same time, so that they can take turns. */
export class WayLab {
  readonly way: Way;
  readonly #lab: EbpfLab;
  readonly #number: number;
  readonly #core: number;
  readonly #group: BenchGroup | undefined;
  readonly #servers: Role[] = [];
  #client: Role | undefined;
  #proxy: Program | undefined;
  #isClosed = false;

  constructor(way: Way, number: number, core: number) {
    this.way = way;
    this.#number = number;
    this.#core = core;
    this.#lab = new EbpfLab(nodeIp(number));
    this.#group = way.proxy?.mode === 'ebpf' ? new BenchGroup() : undefined;
  }

  async open(): Promise<void> {
    const questions: readonly Question[] = [
      { kind: 'serve TCP', address: TCP_ENDPOINT },
      { kind: 'serve UDP', address: UDP_ENDPOINT },
    ];
    for (const question of questions) {
      const server = await Role.start(PLAYER, this.#core, this.#lab.server.namespace);
      this.#servers.push(server);
      await server.ask(question);
    }
    this.#client = await Role.start(PLAYER, this.#core, this.#lab.client.namespace);
    this.#group?.take(this.#client.pid);
  }

  /** Links the node with the machine of the API server. */
  connectTo(control: Machine): void {
    const name = `node${this.#number}`;
    const { node } = this.#lab;
    const link = control.route.addLink({ kind: 'veth', name, peer: { name: 'control', namespace: node.namespace } });
    const uplink = node.link('control');
    control.route.setLink(link, { up: true });
    node.route.setLink(uplink, { up: true });
    control.awaitLink(name);
    const ip = nodeIp(this.#number);
    control.route.addRoute({ destination: hostCidr(ip), dev: link });
    node.route.addRoute({ destination: hostCidr(NODE_IP), dev: uplink, src: ip });
  }

  startProxy(cluster: ControlPlane, folder: string): void {
    const { proxy } = this.way;
    if (!proxy) return;
    const configuration = { mode: proxy.mode, clusterCIDR: POD_RANGE, detectLocalMode: 'ClusterCIDR' };
    const path = `${folder}/proxy-${this.#number}.yaml`;
    writeFileSync(path, proxyConfigurationText(cluster.kubeconfig('proxy'), configuration));
    const command = [...this.#prefix(), ...proxy.subject.command, '--config', path, ...this.#flags(folder)];
    this.#proxy = new Program(this.way.name, command, { namespace: this.#lab.node.namespace });
  }

  async stopProxy(): Promise<void> {
    const proxy = this.#proxy;
    this.#proxy = undefined;
    await proxy?.stop('SIGTERM');
  }

  #prefix(): readonly string[] {
    return this.#group ? WITHOUT_BPFFS : [];
  }

  /** Several of our programs run at the same time. */
  #flags(folder: string): readonly string[] {
    if (this.way.proxy?.subject.name !== OURS) return [];
    return [
      '--inspect-socket',
      `${folder}/inspect-${this.#number}.sock`,
      ...(this.#group ? ['--cgroup-root', this.#group.path] : []),
    ];
  }

  /** Waits until all these Services connect. */
  async untilAllConnect(addresses: readonly SocketAddress[]): Promise<void> {
    const connected = this.#ask({ kind: 'until all connect', addresses });
    const proxy = this.#proxy;
    let isDone = false;
    const ended = proxy?.exit.then(() => {
      if (!isDone) throw new Error(`${this.way.name} ended:\n${proxy.lines.slice(-SHOWN_LINES).join('\n')}`);
    });
    await (ended ? Promise.race([connected, ended]) : connected);
    isDone = true;
  }

  /** Fails if ebpf mode does not translate at the socket, or another way does: the figures would be worth nothing. */
  async checkSockets(service: SocketAddress): Promise<void> {
    if (!this.way.proxy) return;
    const isWanted = this.#group !== undefined;
    const question: Question = { kind: 'is translated', service, endpoint: TCP_ENDPOINT };
    const isRight = async () => (await this.#ask<boolean>(question)) === isWanted;
    const what = isWanted ? 'translate at the socket' : 'leave sockets alone';
    await this.#proxy?.waitFor(what, isRight, SOCKETS_MS, LOOK_MS);
  }

  async run(operation: Operation, targets: Targets, ms: number): Promise<WayLoad> {
    await this.#lab.emptyConntrack();
    const before = this.#othersMs();
    const load = await this.#ask<Load>({ kind: 'run', operation, targets, ms });
    if (load.errors > 0) throw new Error(`${this.way.name}: ${load.errors} failures of ${operation}`);
    return { ...load, totalCpuMs: load.cpuMs + this.#othersMs() - before };
  }

  /** The processor time of the servers, and of the proxy if it copies the bytes. */
  #othersMs(): number {
    const relay = this.way.proxy?.mode === RELAYING_MODE ? [this.#proxy?.pid ?? 0] : [];
    return [...this.#servers.map(({ pid }) => pid), ...relay].reduce((sum, pid) => sum + processMs(pid), 0);
  }

  #ask<T>(question: Question): Promise<T> {
    if (!this.#client) throw new Error('the lab is not open');
    return this.#client.ask(question);
  }

  /** A second call does nothing. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.stopProxy();
    await Promise.all([...this.#servers, ...(this.#client ? [this.#client] : [])].map(role => role.end()));
    // The kernel removes an ended process from its group a moment later.
    await sleep(this.#group ? 200 : 0);
    this.#group?.close();
    this.#lab.close();
  }
}

function nodeIp(number: number): Ip {
  return `192.168.1.${number + 1}` as Ip;
}

/** Milliseconds of processor time of all threads of a process. */
function processMs(pid: number): number {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder).reduce(
    (sum, thread) => sum + Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  );
}
