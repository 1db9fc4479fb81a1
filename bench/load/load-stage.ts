import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ControlPlane } from '../../test/control-plane/control-plane.ts';
import { NODE } from '../../test/control-plane/node-object.ts';
import { kubeconfigText } from '../../test/control-plane/users.ts';
import { runIn } from '../../test/support/run-in.ts';
import { loadObjects } from '../scale/api.ts';
import { RunningProxy } from '../scale/running-proxy.ts';
import type { Subject } from '../scale/subjects.ts';
import type { Size } from '../support/cluster.ts';
import { cpuSeconds, Role, residentBytes } from '../support/role.ts';
import { COUNTER, COUNTER_PORT, counterCertificate } from './counter.ts';
import type { Tally } from './exchange.ts';

const IDLE_MS = 2000;

/** How a proxy talks to the API server. */
export interface Connection {
  readonly contentType: string;
  readonly gzip: boolean;
}

/** An API server with objects, and a counter in front of it. */
export class LoadStage {
  readonly cluster: ControlPlane;
  readonly #folder = mkdtempSync(join(tmpdir(), 'api-load-'));
  #counter: Role | undefined;
  #proxy: RunningProxy | undefined;
  #closed: Promise<void> | undefined;

  private constructor(cluster: ControlPlane) {
    this.cluster = cluster;
  }

  /** Starts an API server without objects. */
  static async start(apiserverArgs: readonly string[]): Promise<LoadStage> {
    return new LoadStage(await ControlPlane.start({ apiserverArgs }));
  }

  async load(size: Size): Promise<void> {
    await this.cluster.apply(NODE);
    await loadObjects(this.cluster, size);
  }

  /** Starts a proxy behind a counter of its own. */
  async startProxy(subject: Subject, connection: Connection): Promise<RunningProxy> {
    const { ca, key, cert } = counterCertificate();
    const { cluster } = this;
    this.#counter = await Role.start(COUNTER, undefined, cluster.namespace);
    await this.#counter.ask({ name: 'listen', server: cluster.server, port: COUNTER_PORT, key, cert });
    const kubeconfig = this.kubeconfig(`https://127.0.0.1:${COUNTER_PORT}`, ca, connection.gzip);
    runIn(cluster.namespace, 'nft', ['flush', 'ruleset']);
    const clientConnection = { kubeconfig, contentType: connection.contentType };
    this.#proxy = new RunningProxy(cluster, subject, 'nftables', { clientConnection });
    return this.#proxy;
  }

  async stopProxy(): Promise<void> {
    const [proxy, counter] = [this.#proxy, this.#counter];
    this.#proxy = undefined;
    this.#counter = undefined;
    await proxy?.stop();
    await counter?.end();
  }

  /** What went through the counter so far. */
  async tally(): Promise<Tally> {
    if (!this.#counter) throw new Error('no proxy runs');
    return this.#counter.ask<Tally>({ name: 'tally' });
  }

  /** Writes a kubeconfig of the proxies' user. */
  kubeconfig(server: string, ca: string, gzip = true): string {
    const config = JSON.parse(kubeconfigText('proxy', server, ca));
    config.clusters[0].cluster['disable-compression'] = !gzip;
    const path = join(this.#folder, 'kubeconfig');
    writeFileSync(path, JSON.stringify(config));
    return path;
  }

  get apiserverPid(): number {
    return this.cluster.apiserver.pid ?? 0;
  }

  /** Mebibytes. 0 if the API server does not run. */
  apiserverMemory(): number {
    try {
      return residentBytes(this.apiserverPid) / 2 ** 20;
    } catch {
      return 0;
    }
  }

  /** The processor time since the API server's process started. */
  apiserverCpuMs(): number {
    return cpuSeconds(this.apiserverPid) * 1000;
  }

  /** The processor time of the API server, without what it takes when nothing happens. */
  async meterApiserver(): Promise<ApiserverMeter> {
    const pid = this.apiserverPid;
    const [at, cpu] = [performance.now(), cpuSeconds(pid)];
    await sleep(IDLE_MS);
    return new ApiserverMeter(pid, ((cpuSeconds(pid) - cpu) * 1000) / (performance.now() - at));
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.stopProxy();
    await this.cluster.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

class ApiserverMeter {
  readonly #pid: number;
  readonly #idleShare: number;
  readonly #start: { readonly at: number; readonly seconds: number };

  constructor(pid: number, idleShare: number) {
    this.#pid = pid;
    this.#idleShare = idleShare;
    this.#start = { at: performance.now(), seconds: cpuSeconds(pid) };
  }

  /** Milliseconds since the start of this meter. */
  workMs(): number {
    const ms = performance.now() - this.#start.at;
    return Math.max(0, (cpuSeconds(this.#pid) - this.#start.seconds) * 1000 - ms * this.#idleShare);
  }
}
