import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, probe } from '../../src/demo/playground/index.ts';
import { ConntrackSocket, L4 } from '../../src/kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Ip } from '../../src/net/index.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { NODE } from '../control-plane/node-object.ts';
import { Program } from '../control-plane/program.ts';

export type Version = keyof typeof VARIABLES;
export type ModeName = 'nftables' | 'iptables' | 'userspace';
export type Backend = 'nft' | 'legacy';

/** A proxy: the program, the mode that it runs in, and the backend of the iptables programs that it finds. */
export interface ProxyChoice {
  readonly program: 'ours' | Version;
  readonly mode: ModeName;
  readonly backend?: Backend | undefined;
  readonly nodePortAddresses?: readonly string[] | undefined;
}

/** What a client counted. */
export interface Summary {
  readonly targets: readonly Polled[];
  /** How many packets that begin a connection were lost. */
  readonly lost: number;
}

export interface Polled {
  readonly name: string;
  readonly answered: number;
  readonly failed: number;
  readonly slowestMs: number;
  readonly answers: Readonly<Record<string, number>>;
}

const VARIABLES = { 'v1.36': 'KUBE_PROXY_V1_36', 'v1.37': 'KUBE_PROXY_V1_37' } as const;
const IPTABLES_PROGRAMS = ['iptables', 'ip6tables'].flatMap(name => ['', '-save', '-restore'].map(end => [name, end]));
const OURS = [process.execPath, 'build/kube-proxy.mjs'];
const PROGRAMMED_MS = 30_000;

/** A control plane on the node of a small cluster, where one proxy follows another. */
export class SwapStage {
  readonly network = Cluster.create();
  readonly #folder = mkdtempSync(join(tmpdir(), 'swap-'));
  readonly #programs: Program[] = [];
  #controlPlane: ControlPlane | undefined;
  #proxy: Program | undefined;

  static async open(): Promise<SwapStage> {
    const stage = new SwapStage();
    try {
      stage.#linkBackends();
      stage.#controlPlane = await ControlPlane.start({ namespace: stage.network.node });
      await stage.controlPlane.apply(NODE);
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  get controlPlane(): ControlPlane {
    if (!this.#controlPlane) throw new Error('the control plane was not started');
    return this.#controlPlane;
  }

  get proxy(): Program {
    if (!this.#proxy) throw new Error('no proxy was started');
    return this.#proxy;
  }

  /** Starts a pod that answers with its address. */
  async addPod(ip: string, port = 8080): Promise<void> {
    await this.#run('pod', this.network.addPod(ip as Ip), ['serve', ip, String(port)]).until('listening');
  }

  /** Makes connections from a place in the network until `endPolling`. */
  async poll(namespace: NetworkNamespace, rate: number, ...targets: readonly string[]): Promise<Program> {
    const poller = this.#run('poller', namespace, ['poll', String(rate), ...targets]);
    await poller.until('polling');
    return poller;
  }

  async endPolling(poller: Program): Promise<Summary> {
    await poller.stop();
    return JSON.parse(poller.lines.at(-1) ?? '');
  }

  /** Ends the proxy that runs, and removes all rules. */
  async clear(): Promise<void> {
    await this.#proxy?.stop();
    this.#proxy = undefined;
    const namespace = this.network.node;
    const { status } = await new Program('cleanup', [...OURS, 'cleanup'], { namespace }).exit;
    if (status !== 0) throw new Error(`the cleanup ended with status ${status}`);
  }

  /** Ends the proxy that runs, and starts another. */
  async swap({ program, mode, backend = 'nft', nodePortAddresses = [] }: ProxyChoice): Promise<Program> {
    await this.#proxy?.stop();
    const minSyncPeriod = '10ms';
    const env = { PATH: `${this.#folder}/${backend}:${process.env.PATH}` };
    const configuration = { mode, nodePortAddresses, nftables: { minSyncPeriod }, iptables: { minSyncPeriod } };
    const command = program === 'ours' ? OURS : [programFrom(VARIABLES[program])];
    this.#proxy = this.controlPlane.startProxy(configuration, { env, command, args: ['--v', '2'] });
    return this.#proxy;
  }

  /** Makes the kernel forget attempts to connect that began while there were no rules. */
  async forgetAttempts(): Promise<void> {
    const conntrack = ConntrackSocket.open({ namespace: this.network.node });
    try {
      await conntrack.delete([...conntrack.dump({ protocol: L4.TCP })].filter(({ state }) => state === 'SYN_SENT'));
    } finally {
      conntrack.close();
    }
  }

  /** Waits until connections from the node reach the pod, and no other one. */
  untilAnsweredBy(ip: string, port: number, pod: string): Promise<void> {
    const isReached = async () => {
      const { answers } = await probe(this.network.node, ip as Ip, port, 'TCP', { tries: 8, timeoutMs: 5000 });
      return answers.size === 1 && answers.has(pod);
    };
    return this.proxy.waitFor(`lead ${ip}:${port} to ${pod}`, isReached, PROGRAMMED_MS);
  }

  async close(): Promise<void> {
    await Promise.all(this.#programs.map(program => program.stop('SIGKILL')));
    await this.#controlPlane?.close();
    this.network.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** A folder for each backend of iptables, to be put in front of PATH. */
  #linkBackends(): void {
    for (const backend of ['nft', 'legacy']) {
      const folder = `${this.#folder}/${backend}`;
      mkdirSync(folder);
      for (const [name, end] of IPTABLES_PROGRAMS) {
        symlinkSync(`/usr/sbin/xtables-${backend}-multi`, `${folder}/${name}${end}`);
      }
    }
  }

  #run(name: string, namespace: NetworkNamespace, args: readonly string[]): Program {
    const program = new Program(name, [process.execPath, 'test/swap/connections.mjs', ...args], { namespace });
    this.#programs.push(program);
    return program;
  }
}

function programFrom(variable: string): string {
  const path = process.env[variable];
  if (!path) throw new Error(`${variable} is not set. npm run test:cluster sets it`);
  return path;
}
