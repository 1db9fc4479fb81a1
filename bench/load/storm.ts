import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Recorder } from '../record/result.ts';
import { single } from '../record/statistics.ts';
import { replace } from '../scale/api.ts';
import { sliceObject } from '../scale/objects.ts';
import { sharedMs } from '../scale/running-proxy.ts';
import { OURS } from '../scale/subjects.ts';
import { Role } from '../support/role.ts';
import { CROWD, type CrowdProgress, type CrowdState } from './crowd.ts';
import type { LoadStage } from './load-stage.ts';
import { fullestTenth, peakPerSecond, timesOf, waitsAfter, waviness } from './spread.ts';

const POLL_MS = 100;
const TIMEOUT_MS = 600_000;
/** How long proxies knock at a server that is away. The first seconds do not count: all proxies began together. */
const AWAY_MS = 12_000;
const BEGINNING_MS = 4000;
/** After the server was away, proxies check its version within ten seconds. A slow machine takes longer. */
const CHECKED_MS = 12_000;
const CHANGES = 20;
const FIRST_POD = 7_000_000;

/** Many proxies at once. Every part starts its own. */
export class Storm {
  readonly #stage: LoadStage;
  readonly #proxies: number;
  readonly #recorder: Recorder;

  constructor(stage: LoadStage, proxies: number, recorder: Recorder) {
    this.#stage = stage;
    this.#proxies = proxies;
    this.#recorder = recorder;
  }

  /** All start while the API server works. Then slices change. */
  async measureServerUp(part: string): Promise<void> {
    const alone = await this.#changeCost();
    await this.#withCrowd(part, async crowd => {
      await this.#measureSync(part, crowd, () => this.#startCrowd(crowd));
      await crowd.ask({ name: 'forget' });
      const together = await this.#changeCost();
      const perProxy = (Math.max(0, together - alone) * 1000) / this.#proxies;
      this.#add(part, "API server's processor for a change, each proxy", 'µs', perProxy);
    });
  }

  /** The proxies have their objects when the API server restarts. */
  async measureRestart(part: string): Promise<void> {
    const { cluster } = this.#stage;
    await this.#withCrowd(part, async crowd => {
      await this.#startCrowd(crowd);
      await this.#untilSynced(crowd);
      await crowd.ask({ name: 'forget' });
      await cluster.stopApiserver();
      const startedAt = sharedMs();
      await cluster.startApiserver();
      const readyAt = sharedMs();
      const meter = this.#meterMemory();
      await sleep(CHECKED_MS);
      const state = await crowd.ask<CrowdState>({ name: 'state' });
      this.#add(part, 'API server is ready after', 's', (readyAt - startedAt) / 1000);
      this.#recordAttempts(part, state);
      this.#add(part, "API server's processor since its start", 's', this.#stage.apiserverCpuMs() / 1000);
      this.#add(part, "API server's greatest memory", 'MiB', meter.stop());
    });
  }

  /** All start while the API server is down. It comes back after a while. */
  async measureServerDown(part: string): Promise<void> {
    const { cluster } = this.#stage;
    await cluster.stopApiserver();
    await this.#withCrowd(part, async crowd => {
      await this.#startCrowd(crowd);
      await sleep(AWAY_MS);
      const { attempts, startedAt } = await crowd.ask<CrowdState>({ name: 'state' });
      const failed = timesOf(attempts, status => status === 0);
      const [from, to] = [startedAt + BEGINNING_MS, startedAt + AWAY_MS];
      this.#add(part, 'attempts a second while it is down', '', perSecond(failed, from, to));
      this.#add(part, 'fullest tenth of a second while it is down', '× average', waviness(failed, from, to));
      await crowd.ask({ name: 'forget' });
      await this.#measureSync(part, crowd, () => cluster.startApiserver());
    });
  }

  /** All start while the API server admits only few requests at a time. */
  async measureBusyServer(part: string): Promise<void> {
    await this.#withCrowd(part, crowd => this.#measureSync(part, crowd, () => this.#startCrowd(crowd)));
  }

  async #measureSync(part: string, crowd: Role, begin: () => Promise<void>): Promise<void> {
    const formerPid = this.#stage.cluster.apiserverPid;
    const formerCpuMs = formerPid === undefined ? 0 : this.#stage.apiserverCpuMs();
    const beganAt = sharedMs();
    const begun = begin();
    const memory = this.#meterMemory();
    await begun;
    const begunAt = sharedMs();
    await this.#untilSynced(crowd);
    const cpuMs = this.#stage.apiserverCpuMs() - formerCpuMs;
    const state = await crowd.ask<CrowdState>({ name: 'state' });
    const synced = [...state.syncedAt].sort((a, b) => a - b);
    const since = (at: number | undefined) => ((at ?? beganAt) - beganAt) / 1000;
    if (formerPid === undefined) this.#add(part, 'API server is ready after', 's', since(begunAt));
    this.#add(part, 'half of them synced after', 's', since(synced[synced.length >> 1]));
    this.#add(part, 'all synced after', 's', since(synced.at(-1)));
    this.#recordAttempts(part, state);
    this.#add(part, "API server's processor", 's', cpuMs / 1000);
    if (formerPid !== undefined) this.#add(part, "API server's processor, each proxy", 'ms', cpuMs / this.#proxies);
    this.#add(part, "API server's greatest memory", 'MiB', memory.stop());
  }

  #recordAttempts(part: string, { attempts, greatestDelayMs }: CrowdState): void {
    const count = (isWanted: (status: number) => boolean) => timesOf(attempts, isWanted).length;
    const answered = timesOf(attempts, status => status !== 0);
    this.#add(part, 'answered requests', '', answered.length);
    this.#add(part, 'answered requests, fullest second', '', peakPerSecond(answered));
    this.#add(part, 'requests refused with 429', '', count(isBusy));
    this.#add(
      part,
      'requests refused otherwise',
      '',
      count(status => status >= 400 && !isBusy(status)),
    );
    this.#add(
      part,
      'requests without an answer',
      '',
      count(status => status === 0),
    );
    const waits = waitsAfter(attempts, isBusy);
    if (waits.length > 0) this.#add(part, 'waits after 429, fullest tenth of a second', '%', fullestTenth(waits));
    this.#add(part, "greatest delay of the bench's event loop", 'ms', greatestDelayMs);
  }

  /** Milliseconds of the API server's processor time for one change of a slice. */
  async #changeCost(): Promise<number> {
    const meter = await this.#stage.meterApiserver();
    for (let i = 1; i <= CHANGES; i++) {
      await replace(this.#stage.cluster, sliceObject(0, 0, FIRST_POD, 5, { shift: i % 2 }));
    }
    await sleep(1000);
    return meter.workMs() / CHANGES;
  }

  async #startCrowd(crowd: Role): Promise<void> {
    const { cluster } = this.#stage;
    const kubeconfig = this.#stage.kubeconfig(cluster.server, cluster.ca);
    await crowd.ask({ name: 'start', proxies: this.#proxies, kubeconfig });
  }

  async #untilSynced(crowd: Role): Promise<void> {
    const end = performance.now() + TIMEOUT_MS;
    for (;;) {
      const { synced } = await crowd.ask<CrowdProgress>({ name: 'progress' });
      if (synced >= this.#proxies) return;
      if (performance.now() > end) throw new Error(`only ${synced} of ${this.#proxies} proxies have their objects`);
      await sleep(POLL_MS);
    }
  }

  async #withCrowd(part: string, work: (crowd: Role) => Promise<void>): Promise<void> {
    this.#recorder.note(`load before ${part}, ${this.#proxies} proxies`, (loadavg()[0] ?? 0).toFixed(2));
    const crowd = await Role.start(CROWD, undefined, this.#stage.cluster.namespace);
    try {
      await work(crowd);
    } finally {
      await crowd.end();
    }
  }

  #meterMemory() {
    let peak = 0;
    const timer = setInterval(() => {
      peak = Math.max(peak, this.#stage.apiserverMemory());
    }, POLL_MS);
    return {
      stop() {
        clearInterval(timer);
        return peak;
      },
    };
  }

  #add(part: string, name: string, unit: string, value: number): void {
    const head = { part, size: `${this.#proxies} proxies`, subject: OURS, name, unit, kind: 'estimate' } as const;
    this.#recorder.add(single(head, value));
  }
}

function perSecond(times: readonly number[], from: number, to: number): number {
  return times.filter(time => time >= from && time < to).length / ((to - from) / 1000);
}

function isBusy(status: number): boolean {
  return status === 429;
}
