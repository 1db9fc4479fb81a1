import type { RequestObservation } from '../../client/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Family } from '../../net/index.ts';
import { type BuildInfo, componentMetrics, type Feature } from './component-metrics.ts';
import { watchEventLoop } from './event-loop-lag.ts';
import { kubeProxyMetrics } from './kube-proxy-metrics.ts';
import { type Counter, MetricSet } from './metric-set.ts';
import { pointsmanMetrics } from './pointsman-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { observeRest, restMetrics } from './rest-metrics.ts';

export interface ProxyMetricsOptions {
  /** The mode distinguishes full syncs from partial ones. */
  readonly hasPartialSyncMetrics: boolean;
  readonly clock: Clock;
  readonly build: BuildInfo;
  readonly features: readonly Feature[];
}

export interface Changes {
  readonly endpointSlices: number;
  readonly services: number;
  readonly pendingEndpoints: number;
  readonly pendingServices: number;
}

/** Everything that the proxy measures, whatever its mode. */
export class ProxyMetrics {
  /** A mode registers its own metrics here. */
  readonly set = new MetricSet();
  readonly #clock: Clock;
  readonly #own;
  readonly #kubeProxy;
  readonly #rest;
  readonly #lag;
  #refresh: () => void = () => {};
  /** When the last message came over the watch of each resource. */
  readonly #lastMessageAt = new Map<string, number>();

  constructor({ hasPartialSyncMetrics, clock, build, features }: ProxyMetricsOptions) {
    this.#clock = clock;
    this.#kubeProxy = kubeProxyMetrics(this.set, hasPartialSyncMetrics);
    this.#rest = restMetrics(this.set);
    this.#own = pointsmanMetrics(this.set);
    componentMetrics(this.set, build, features);
    processMetrics(this.set);
    this.#lag = watchEventLoop(seconds => this.#own.eventLoopLag.observe(seconds));
  }

  /** Calls `refresh` before each scrape. It updates the values that other parts of the proxy count. */
  onScrape(refresh: () => void): void {
    this.#refresh = refresh;
  }

  /** In Prometheus' text format. */
  text(): Promise<string> {
    this.#refresh();
    const now = this.#clock.elapsed();
    for (const [resource, at] of this.#lastMessageAt) {
      this.#own.watchAge.set({ resource }, (now - at) / 1000);
    }
    return this.set.text();
  }

  close(): void {
    this.#lag.stop();
  }

  syncQueued(family: Family): void {
    this.#kubeProxy.lastQueued.set({ ip_family: family }, this.#clock.now() / 1000);
  }

  syncFinished(family: Family, seconds: number, { full, success }: { full: boolean; success: boolean }): void {
    const labels = { ip_family: family };
    const { syncDuration, fullSyncDuration, partialSyncDuration, lastSync } = this.#kubeProxy;
    syncDuration.observe(labels, seconds);
    (full ? fullSyncDuration : partialSyncDuration)?.observe(labels, seconds);
    if (success) lastSync.set(labels, this.#clock.now() / 1000);
    else this.#own.syncFailures.inc(labels);
  }

  /**
   * The time from the change of an endpoint to its rules. If the clocks of two machines differ, it can be negative.
   * Then it counts as 0.
   */
  networkProgramming(family: Family, seconds: number): void {
    this.#kubeProxy.networkProgramming.observe({ ip_family: family }, Math.max(0, seconds));
  }

  /** Changes of objects: how many came so far, and how many wait for a sync. */
  changes({ endpointSlices, services, pendingEndpoints, pendingServices }: Changes): void {
    setTotal(this.#kubeProxy.endpointChanges, endpointSlices);
    setTotal(this.#kubeProxy.serviceChanges, services);
    this.#kubeProxy.endpointChangesPending.set(pendingEndpoints);
    this.#kubeProxy.serviceChangesPending.set(pendingServices);
  }

  /** Service ports with policy Local that have endpoints, but none on this node. */
  noLocalEndpoints(family: Family, policy: 'internal' | 'external', count: number): void {
    this.#kubeProxy.noLocalEndpoints.set({ traffic_policy: policy, ip_family: family }, count);
  }

  healthz(status: number): void {
    this.#kubeProxy.healthz.inc({ code: String(status) });
  }

  livez(status: number): void {
    this.#kubeProxy.livez.inc({ code: String(status) });
  }

  conntrackReconciled(family: Family, seconds: number, deleted: number): void {
    this.#kubeProxy.conntrackDuration.observe({ ip_family: family }, seconds);
    this.#kubeProxy.conntrackDeleted.inc({ ip_family: family }, deleted);
  }

  /** One exchange with the kernel, or one run of a program that speaks to it. */
  kernelBatch(family: Family, objects: number, seconds: number): void {
    this.#own.batchObjects.observe({ ip_family: family }, objects);
    this.#own.batchDuration.observe({ ip_family: family }, seconds);
  }

  kernelRefused(family: Family): void {
    this.#own.refused.inc({ ip_family: family });
  }

  readHealth(healthy: () => boolean): void {
    const help = '1 if the proxy is healthy: as /healthz, but the state of the Node does not count.';
    this.set.readGauge('pointsman_healthy', help, () => (healthy() ? 1 : 0));
  }

  servicePorts(family: Family, counts: { readonly programmed: number; readonly setAside: number }): void {
    this.#own.servicePorts.set({ status: 'programmed', ip_family: family }, counts.programmed);
    this.#own.servicePorts.set({ status: 'set_aside', ip_family: family }, counts.setAside);
  }

  /** `errno`: the kernel's error number, such as `EEXIST`. It is the label, because error texts name objects. */
  setAside(family: Family, errno: string | undefined): void {
    this.#own.setAside.inc({ reason: errno ?? 'other', ip_family: family });
  }

  driftRepaired(family: Family): void {
    this.#own.driftRepairs.inc({ ip_family: family });
  }

  endpointEjected(family: Family): void {
    this.#own.endpointEjections.inc({ ip_family: family });
  }

  connectionEventsLost(): void {
    this.#own.connectionEventsLost.inc({});
  }

  connectionsEnded(family: Family, connections: number): void {
    this.#own.endedConnections.inc({ ip_family: family }, connections);
  }

  inputProblem(kind: string | undefined, reason: string): void {
    this.#own.inputProblems.inc({ kind: kind ?? 'other', reason });
  }

  readInputProblems(count: () => number): void {
    const help = 'Objects and manifests that cannot be used now, as a whole or in part.';
    this.set.readGauge('pointsman_input_problems', help, count);
  }

  /** A message came over the watch of a resource: its first answer, an event or a bookmark. */
  watchMessage(resource: string): void {
    this.#lastMessageAt.set(resource, this.#clock.elapsed());
  }

  configurationRefused(): void {
    this.#own.configurationRefusals.inc();
    this.#own.configurationRefused.set(1);
  }

  configurationAccepted(): void {
    this.#own.configurationRefused.set(0);
  }

  /** The client reports a request to the API server. */
  restObserved(observation: RequestObservation): void {
    observeRest(this.#rest, observation);
  }
}

function setTotal(counter: Counter<never>, total: number): void {
  counter.reset();
  counter.inc(total);
}
