import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../test/control-plane/objects.ts';
import { quantiles, shortened, single, thinned } from '../record/statistics.ts';
import { replace } from './api.ts';
import { histogramOf, histogramQuantile, histogramSince } from './metrics-text.ts';
import { sliceObjects } from './objects.ts';
import type { Latency } from './probe.ts';
import type { Stage } from './stage.ts';
import type { Subject } from './subjects.ts';

const PROGRAMMING = 'kubeproxy_network_programming_duration_seconds';
const LAG = 'pointsman_event_loop_lag_seconds';
const TICK_MS = 10;
const LOOK_MS = 1000;
/** The pods of a changed slice get other addresses, and later their former ones. */
const SHIFT = 3_000_000;
/** How often connections are tried meanwhile. */
const PROBE_PAUSE_MS = 1;
const MAX_POINTS = 120;

/** Changes slices at a steady rate, and measures single changes meanwhile. */
export async function measureChurn(stage: Stage, subject: Subject, part = 'churn'): Promise<void> {
  const { proxy, probe, recorder, effort } = stage;
  const before = await proxy.metrics();
  const [start, cpuBefore] = [performance.now(), proxy.cpuMs()];
  const resident: [number, number][] = [];
  const looking = setInterval(() => {
    resident.push([shortened((performance.now() - start) / 1000), shortened(proxy.memory().resident)]);
  }, LOOK_MS);
  const load = new SliceLoad(stage);
  const running = load.run(effort.churnMs);
  const latencies: Latency[] = [];
  const end = start + effort.churnMs;
  while (performance.now() < end) {
    await probe.prepare(0);
    latencies.push(await probe.gain(PROBE_PAUSE_MS));
  }
  await running;
  clearInterval(looking);
  const cpuShare = (proxy.cpuMs() - cpuBefore) / (performance.now() - start);
  const after = await proxy.metrics();
  const since = (name: string) => histogramSince(histogramOf(after, name), histogramOf(before, name));
  const head = (name: string, unit: string, kind: 'time' | 'rate' | 'memory' | 'share') =>
    stage.head(part, subject, { name, unit, kind });
  recorder.add(
    ...quantiles(
      head('from the request', 'ms', 'time'),
      latencies.map(({ fromRequest }) => fromRequest),
    ),
    ...quantiles(
      head("from the API server's answer", 'ms', 'time'),
      latencies.map(({ fromAnswer }) => fromAnswer),
    ),
    ...[0.5, 0.99].map(q =>
      single(head(`network programming p${q * 100}`, 's', 'time'), histogramQuantile(since(PROGRAMMING), q)),
    ),
    single(head('processor', '% of a core', 'share'), cpuShare * 100),
    single(head('updates', 'a second', 'rate'), load.updates / ((performance.now() - start) / 1000)),
    single(head('resident at the end', 'MiB', 'memory'), resident.at(-1)?.[1] ?? Number.NaN),
    single(head('greatest resident', 'MiB', 'memory'), Math.max(...resident.map(([, value]) => value))),
  );
  // Only our own program reports this.
  const lag = histogramQuantile(since(LAG), 0.99);
  if (!Number.isNaN(lag)) recorder.add(single(head('event-loop delay p99', 's', 'time'), lag));
  const { size } = stage.head(part, subject, { name: '', unit: '', kind: 'memory' });
  const series = { part, size, subject: subject.name, name: 'resident', unit: 'MiB' };
  recorder.series.push({ ...series, points: thinned(resident, MAX_POINTS) });
  await sleep(effort.settleMs);
}

/** Replaces one slice after another. */
class SliceLoad {
  readonly #stage: Stage;
  updates = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async run(ms: number): Promise<void> {
    const { churnRate } = this.#stage.effort;
    const start = performance.now();
    const pending = new Set<Promise<void>>();
    let failure: unknown;
    for (let sent = 0; performance.now() - start < ms; ) {
      const due = Math.floor(((performance.now() - start) * churnRate) / 1000);
      // An API server that cannot follow gets no more requests at a time than a second's.
      for (; sent < due && pending.size < churnRate; sent++) {
        const request = replace(this.#stage.cluster, this.#next(sent)).then(
          () => void this.updates++,
          error => {
            failure = error;
          },
        );
        pending.add(request);
        void request.finally(() => pending.delete(request));
      }
      if (failure !== undefined) throw failure;
      await sleep(TICK_MS);
    }
    await Promise.all(pending);
  }

  #next(number: number): KubeObject {
    const { services, endpoints } = this.#stage.size;
    const index = number % services;
    const shift = Math.floor(number / services) % 2 === 0 ? SHIFT : 0;
    const [slice] = sliceObjects(index, endpoints, { shift, changedAt: new Date() });
    if (!slice) throw new Error('the Services have no endpoints');
    return slice;
  }
}
