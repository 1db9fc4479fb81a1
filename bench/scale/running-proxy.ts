import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ip } from '../../src/net/index.ts';
import type { ControlPlane } from '../../test/control-plane/control-plane.ts';
import { HttpClient } from '../../test/control-plane/http-client.ts';
import type { Program } from '../../test/control-plane/program.ts';
import { BenchGroup } from '../support/ebpf-lab.ts';
import { samplesOf } from './metrics-text.ts';
import { POD_RANGE } from './objects.ts';
import type { Subject } from './subjects.ts';

const METRICS_PORT = 10249;
const LAST_SYNC = 'kubeproxy_sync_proxy_rules_last_timestamp_seconds';
const POLL_MS = 50;

/** In mebibytes. */
export interface MemoryUse {
  readonly resident: number;
  /** Memory of the process's own. The kernel can drop the rest, which is pages of files. */
  readonly anonymous: number;
  readonly peak: number;
}

/** A proxy that runs on the node, in a control group of its own. That group counts the time of its children, too. */
export class RunningProxy {
  /** When the process started: milliseconds since 1970, and of the clock that all processes share. */
  readonly startedAt = { epochMs: Date.now(), sharedMs: sharedMs() };
  readonly #group = new BenchGroup();
  readonly #program: Program;
  readonly #metrics: HttpClient;

  /** `more` has further fields of the proxy's configuration. */
  constructor(cluster: ControlPlane, { command }: Subject, mode: string, more: Readonly<Record<string, unknown>> = {}) {
    // The shell enters the group and then becomes the proxy, so that no time escapes.
    const entering = ['sh', '-c', 'echo $$ > "$0" && exec "$@"', `${this.#group.path}/cgroup.procs`];
    const configuration = { mode, clusterCIDR: POD_RANGE, detectLocalMode: 'ClusterCIDR', ...more };
    this.#program = cluster.startProxy(configuration, { command: [...entering, ...command] });
    this.#metrics = new HttpClient({ namespace: cluster.namespace, ip: '127.0.0.1' as Ip, port: METRICS_PORT });
  }

  /** Waits for the first sync of IPv4, and returns the milliseconds from the start until its end. */
  async firstSync(timeoutMs: number): Promise<number> {
    let ended = 0;
    const isSynced = async () => {
      const times = samplesOf(await this.metrics(), LAST_SYNC)
        .filter(({ labels }) => labels.ip_family !== 'IPv6')
        .map(({ value }) => value * 1000);
      ended = Math.max(0, ...times);
      return ended > this.startedAt.epochMs;
    };
    await this.#program.waitFor('sync', isSynced, timeoutMs, POLL_MS);
    return ended - this.startedAt.epochMs;
  }

  async metrics(): Promise<string> {
    return (await this.#metrics.request({ method: 'GET', path: '/metrics' })).text;
  }

  /** Milliseconds of processor time since the start, children included. */
  cpuMs(): number {
    const [, microseconds] = /^usage_usec (\d+)$/m.exec(readFileSync(`${this.#group.path}/cpu.stat`, 'utf8')) ?? [];
    return Number(microseconds) / 1000;
  }

  memory(): MemoryUse {
    const status = readFileSync(`/proc/${this.#program.pid}/status`, 'utf8');
    return { resident: field(status, 'VmRSS'), anonymous: field(status, 'RssAnon'), peak: field(status, 'VmHWM') };
  }

  /** The resident memory of the proxy and its children together, in mebibytes. */
  residentOfAll(): number {
    const pids = readFileSync(`${this.#group.path}/cgroup.procs`, 'utf8').split('\n').filter(Boolean);
    return pids.reduce((sum, pid) => sum + residentOf(pid), 0);
  }

  async stop(): Promise<void> {
    this.#metrics.close();
    await this.#program.stop('SIGTERM');
    await this.#closeGroup();
  }

  /** The kernel removes an ended process from its group a moment later. */
  async #closeGroup(): Promise<void> {
    for (let attempts = 100; ; attempts--) {
      try {
        return this.#group.close();
      } catch (error) {
        if (attempts === 0) throw error;
        await sleep(POLL_MS);
      }
    }
  }
}

/** Milliseconds of a clock that all processes of the machine share. */
export function sharedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function residentOf(pid: string): number {
  try {
    return field(readFileSync(`/proc/${pid}/status`, 'utf8'), 'VmRSS');
  } catch {
    // The process has ended.
    return 0;
  }
}

function field(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) / 1024;
}
