import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Cluster, type ProbeResult, probe } from '../../src/demo/playground/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type Ip, parseCidr } from '../../src/net/index.ts';
import { type PacketSelection, type TracedPacket, Tracer } from '../../src/trace/index.ts';
import { KUBE_PROXY } from '../support/kube-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { CaseObjects } from '../traffic/case-objects.ts';
import { Endpoints } from '../traffic/endpoints.ts';
import type { Mode } from '../traffic/modes.ts';
import { readCase } from '../traffic/recorded-case.ts';
import { caseSettings } from '../traffic/settings.ts';
import { startProxy } from '../traffic/start-proxy.ts';

/** The address of the only Service of the case `clusterip-basic`. */
export const SERVICE_IP = '10.96.0.10' as Ip;
export const CLIENT_POD = '10.244.1.200' as Ip;

export interface TracedCluster {
  readonly cluster: Cluster;
  readonly pod: NetworkNamespace;
  /** Connects once. */
  connect(from: NetworkNamespace, ip?: Ip, port?: number): Promise<ProbeResult>;
  /** Starts `kube-proxy trace` on the node. It is ended with the cluster. */
  startProgram(...args: string[]): TraceProgram;
}

/** Runs the work with a proxy for one Service, web at 10.96.0.10:80, whose endpoints answer. */
export async function withTracedCluster(mode: Mode, work: (parts: TracedCluster) => Promise<void>): Promise<void> {
  const { configuration, steps } = await readCase('test/cases/clusterip-basic');
  const cluster = Cluster.create();
  const endpoints = new Endpoints(cluster);
  const programs: TraceProgram[] = [];
  try {
    const proxy = startProxy(mode, cluster.node, caseSettings(configuration, mode));
    try {
      const objects = new CaseObjects();
      for (const step of steps) {
        await proxy.apply(objects.apply(step));
        await endpoints.serve(step.set.filter(object => object.kind === 'EndpointSlice'));
      }
      await work({
        cluster,
        pod: cluster.addPod(CLIENT_POD),
        connect: (from, ip = SERVICE_IP, port = 80) => probe(from, ip, port, 'TCP', { tries: 1 }),
        startProgram: (...args) => {
          const program = new TraceProgram(cluster.node, ...args);
          programs.push(program);
          return program;
        },
      });
    } finally {
      await Promise.all(programs.map(program => program.end('SIGKILL')));
      await proxy.close();
    }
  } finally {
    await endpoints.close();
    cluster.close();
  }
}

export function packetsTo(text: string, source?: PacketSelection['source']): PacketSelection {
  const address = parseCidr(text);
  if (!address) throw new RangeError(`not a network: ${text}`);
  return { source, destinations: [{ address, protocol: 'TCP', port: 80 }] };
}

/** Traces packets while the work runs, and until as many packets were seen. */
export async function tracedDuring(
  namespace: NetworkNamespace,
  selection: PacketSelection,
  work: () => Promise<unknown>,
  isEnough: (packets: readonly TracedPacket[]) => boolean = packets => packets.length > 0,
): Promise<readonly TracedPacket[]> {
  const packets: TracedPacket[] = [];
  const failures: unknown[] = [];
  const tracer = await Tracer.open(
    selection,
    {
      traced: packet => packets.push(packet),
      overrun: () => failures.push('overrun'),
      failed: error => failures.push(error),
    },
    { namespace },
  );
  try {
    await work();
    await waitFor('traced packets', () => isEnough(packets) || failures.length > 0);
    if (failures.length > 0) throw new Error(String(failures));
  } finally {
    await tracer.close();
  }
  return packets;
}

/** The program `kube-proxy trace` in a network namespace. */
export class TraceProgram {
  readonly #child;
  /** Its output is complete only then, later than its exit. */
  readonly #closed: Promise<unknown>;
  #output = '';
  #errors = '';

  constructor(namespace: NetworkNamespace, ...args: string[]) {
    this.#child = namespace.run(() => spawn(KUBE_PROXY, ['trace', ...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
    this.#closed = once(this.#child, 'close');
    this.#child.stdout.on('data', data => {
      this.#output += data;
    });
    this.#child.stderr.on('data', data => {
      this.#errors += data;
    });
  }

  get output(): string {
    return this.#output;
  }

  get errors(): string {
    return this.#errors;
  }

  async untilPrinted(words: string): Promise<void> {
    const details = () => `${this.#output}${this.#errors}`;
    const isOver = () => this.#output.includes(words) || this.#child.exitCode !== null;
    await waitFor(`the program prints "${words}"`, isOver, { timeoutMs: 60_000, details });
    if (!this.#output.includes(words)) throw new Error(`the program ended without "${words}"\n${details()}`);
  }

  /** The exit status, or null after a signal. */
  async end(signal?: NodeJS.Signals): Promise<number | null> {
    if (signal !== undefined) this.#child.kill(signal);
    await this.#closed;
    return this.#child.exitCode;
  }
}
