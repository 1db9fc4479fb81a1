import type { RequestObservation } from '../../client/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Measure, ServiceCounters, SetAside } from '../../modes/index.ts';
import type { Family } from '../../net/index.ts';
import { type BuildInfo, componentMetrics, type Feature } from './component-metrics.ts';
import { watchEventLoop } from './event-loop-lag.ts';
import { ipvsServers, type ReadStatistics } from './ipvs-servers.ts';
import { alpha, kubeProxyMetrics, kubeProxyName, PACKET_COUNTERS, type PacketCounter } from './kube-proxy-metrics.ts';
import { type Counter, MetricSet, type Read } from './metric-set.ts';
import { pointsmanMetrics } from './pointsman-metrics.ts';
import { processMetrics } from './process-metrics.ts';
import { observeRest, restMetrics } from './rest-metrics.ts';
import { type ReadConnections, serviceConnections } from './service-connections.ts';
import { userspaceServices } from './userspace-services.ts';

export interface ProxyMetricsOptions {
  /** `iptables`, `ipvs`, `nftables`, `userspace`: each has metrics of its own. */
  readonly mode: string;
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

/** Everything that is measured, told by what happened. */
export class ProxyMetrics {
  readonly #set = new MetricSet();
  readonly #mode: string;
  readonly #clock: Clock;
  readonly #own;
  readonly #kubeProxy;
  readonly #rest;
  readonly #lag;
  #beforeText: () => void = () => {};
  readonly #watchHeard = new Map<string, number>();

  constructor({ mode, clock, build, features }: ProxyMetricsOptions) {
    this.#mode = mode;
    this.#clock = clock;
    this.#kubeProxy = kubeProxyMetrics(this.#set, mode);
    this.#rest = restMetrics(this.#set);
    this.#own = pointsmanMetrics(this.#set);
    componentMetrics(this.#set, build, features);
    processMetrics(this.#set);
    this.#lag = watchEventLoop(seconds => this.#own.eventLoopLag.observe(seconds));
  }

  /** What is counted elsewhere is told when somebody wants to know. */
  beforeText(tell: () => void): void {
    this.#beforeText = tell;
  }

  /** In Prometheus' text format. */
  text(): Promise<string> {
    this.#beforeText();
    const now = this.#clock.elapsed();
    for (const [resource, at] of this.#watchHeard) {
      this.#own.watchAge.set({ resource }, (now - at) / 1000);
    }
    return this.#set.text();
  }

  close(): void {
    this.#lag.stop();
  }

  syncQueued(family: Family): void {
    this.#kubeProxy.lastQueued.set({ ip_family: family }, this.#clock.now() / 1000);
  }

  /** Once objects are known: syncs that return at once because there is nothing to sync yet do not count. */
  syncFinished(family: Family, seconds: number, { full, success }: { full: boolean; success: boolean }): void {
    const labels = { ip_family: family };
    const { syncDuration, fullSyncDuration, partialSyncDuration, lastSync } = this.#kubeProxy;
    syncDuration.observe(labels, seconds);
    (full ? fullSyncDuration : partialSyncDuration)?.observe(labels, seconds);
    if (success) lastSync.set(labels, this.#clock.now() / 1000);
    else this.#own.syncFailures.inc(labels);
  }

  /** From the change of an endpoint to the rules for it. Clocks of two machines may differ; time does not run back. */
  networkProgramming(family: Family, seconds: number): void {
    this.#kubeProxy.networkProgramming.observe({ ip_family: family }, Math.max(0, seconds));
  }

  /** Events of objects that were told so far, and those that wait for a sync. */
  changes({ endpointSlices, services, pendingEndpoints, pendingServices }: Changes): void {
    setTotal(this.#kubeProxy.endpointChanges, endpointSlices);
    setTotal(this.#kubeProxy.serviceChanges, services);
    this.#kubeProxy.endpointChangesPending.set(pendingEndpoints);
    this.#kubeProxy.serviceChangesPending.set(pendingServices);
  }

  /** Service ports of policy Local that have endpoints, but none here. */
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

  measured(family: Family, measure: Measure): void {
    const labels = { ip_family: family };
    switch (measure.kind) {
      case 'batch':
        this.#own.batchObjects.observe(labels, measure.objects);
        this.#own.batchDuration.observe(labels, measure.milliseconds / 1000);
        return;
      case 'refused':
        this.#own.refused.inc(labels);
        this.#kubeProxy.restoreFailures?.inc(labels);
        this.#kubeProxy.nftablesSyncFailures?.inc(labels);
        if (measure.partial) this.#kubeProxy.partialRestoreFailures?.inc(labels);
        return;
      case 'cleanup-failed':
        this.#kubeProxy.nftablesCleanupFailures?.inc(labels);
        return;
      case 'rules':
        this.#kubeProxy.rulesTotal?.set({ table: measure.table, ...labels }, measure.total);
        this.#kubeProxy.rulesLast?.set({ table: measure.table, ...labels }, measure.last);
        return;
    }
  }

  /** Packets that the kernel counts for rules of iptables mode; other modes have none. */
  readPackets(which: PacketCounter, read: Read): void {
    if (this.#mode !== 'iptables') return;
    const [name, help] = PACKET_COUNTERS[which];
    this.#set.readCounter(kubeProxyName(name), alpha(help), read);
  }

  /** Connections that the kernel counts by frontend, where it was asked to. */
  readConnections(read: ReadConnections): void {
    serviceConnections(this.#set, this.#clock, read);
  }

  /** What virtual and real servers of ipvs mode carried; other modes have none. */
  readServers(read: ReadStatistics): void {
    if (this.#mode === 'ipvs') ipvsServers(this.#set, this.#clock, read);
  }

  /** What went through the proxies of userspace mode; other modes have none. */
  readServices(read: () => readonly ServiceCounters[]): void {
    if (this.#mode === 'userspace') userspaceServices(this.#set, read);
  }

  readHealth(healthy: () => boolean): void {
    const help = '1 if the proxy follows: /healthz without the node.';
    this.#set.readGauge('pointsman_healthy', help, () => (healthy() ? 1 : 0));
  }

  servicePorts(family: Family, counts: { readonly programmed: number; readonly setAside: number }): void {
    this.#own.servicePorts.set({ status: 'programmed', ip_family: family }, counts.programmed);
    this.#own.servicePorts.set({ status: 'set_aside', ip_family: family }, counts.setAside);
  }

  setAside({ family, error }: SetAside): void {
    this.#own.setAside.inc({ reason: errnoIn(error), ip_family: family });
  }

  driftRepaired(family: Family): void {
    this.#own.driftRepairs.inc({ ip_family: family });
  }

  /** Anything came over a watch: an event or a bookmark, or it began. */
  watchHeard(resource: string): void {
    this.#watchHeard.set(resource, this.#clock.elapsed());
  }

  configurationRefused(): void {
    this.#own.configurationRefusals.inc();
    this.#own.configurationRefused.set(1);
  }

  configurationAccepted(): void {
    this.#own.configurationRefused.set(0);
  }

  /** What a client tells of its requests to the API server. */
  restObserved(observation: RequestObservation): void {
    observeRest(this.#rest, observation);
  }
}

function setTotal(counter: Counter<never>, total: number): void {
  counter.reset();
  counter.inc(total);
}

/** The name of an error is a label that stays small; its text names objects and would not. */
function errnoIn(error: string): string {
  return /\bE[A-Z][A-Z0-9]+\b/.exec(error)?.[0] ?? 'other';
}
