import { setTimeout as sleep } from 'node:timers/promises';
import { quantiles, single } from '../record/statistics.ts';
import { totalOf } from './metrics-text.ts';
import type { Latency } from './probe.ts';
import type { RunningProxy } from './running-proxy.ts';
import type { Stage } from './stage.ts';
import type { Subject } from './subjects.ts';

const PART = 'one change';
const IDLE_MS = 3000;
const SYNC = 'kubeproxy_sync_proxy_rules_duration_seconds';

/** A Service gains its only endpoint and loses it, again and again, with a pause between. */
export async function measureChanges(stage: Stage, subject: Subject): Promise<void> {
  const { proxy, probe, recorder, effort } = stage;
  await probe.prepare();
  const meter = await CpuMeter.start(proxy);
  const before = await syncsOf(proxy);
  const latencies: Latency[] = [];
  for (let i = 0; i < effort.changes; i++) {
    if (i > 0) await probe.prepare();
    latencies.push(await probe.gain());
    await sleep(effort.settleMs);
  }
  // Each endpoint that came had gone before, but for the first one.
  const changes = 2 * effort.changes - 1;
  const cpu = meter.workMs() / changes;
  const after = await syncsOf(proxy);
  const head = (name: string) => stage.head(PART, subject, { name, unit: 'ms', kind: 'time' });
  recorder.add(
    ...quantiles(
      head('from the request'),
      latencies.map(({ fromRequest }) => fromRequest),
    ),
    ...quantiles(
      head("from the API server's answer"),
      latencies.map(({ fromAnswer }) => fromAnswer),
    ),
    single(head('sync'), ((after.seconds - before.seconds) * 1000) / (after.count - before.count)),
    single(head('processor'), cpu),
  );
}

async function syncsOf(proxy: RunningProxy) {
  const text = await proxy.metrics();
  return { seconds: totalOf(text, `${SYNC}_sum`), count: totalOf(text, `${SYNC}_count`) };
}

/** The processor time of work, without what the proxy takes when nothing happens. */
export class CpuMeter {
  readonly #proxy: RunningProxy;
  readonly #idleShare: number;
  readonly #start: { readonly at: number; readonly cpuMs: number };

  private constructor(proxy: RunningProxy, idleShare: number) {
    this.#proxy = proxy;
    this.#idleShare = idleShare;
    this.#start = { at: performance.now(), cpuMs: proxy.cpuMs() };
  }

  /** Looks at an idle proxy first. */
  static async start(proxy: RunningProxy): Promise<CpuMeter> {
    const [at, cpuMs] = [performance.now(), proxy.cpuMs()];
    await sleep(IDLE_MS);
    return new CpuMeter(proxy, (proxy.cpuMs() - cpuMs) / (performance.now() - at));
  }

  workMs(): number {
    const ms = performance.now() - this.#start.at;
    return Math.max(0, this.#proxy.cpuMs() - this.#start.cpuMs - ms * this.#idleShare);
  }
}
