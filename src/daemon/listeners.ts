import type { History } from '../history/index.ts';
import type { EndedSync } from '../inspect/index.ts';
import { millisecondsText } from '../lib/duration-words.ts';
import { errorText } from '../lib/error-text.ts';
import type { NodeTopology } from '../model/index.ts';
import { type ModeEvents, setAsideName } from '../modes/index.ts';
import { type Family, joinHostPort } from '../net/index.ts';
import type { ProxyHealth } from '../observe/health/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';
import type { EjectionReport, LoopListener, ProgrammedVersions, ProxyListeners, SyncedReport } from '../proxy/index.ts';
import { logChanges } from './change-log.ts';
import { ejectionListeners, endListeners } from './endpoint-listeners.ts';
import type { InputProblems } from './input-problems.ts';

/** Where the reports of the proxy go. */
export interface ReportTargets {
  /** The mode's name. Its log lines carry it. */
  readonly mode: string;
  readonly log: Logger;
  readonly health: ProxyHealth;
  readonly metrics: ProxyMetrics;
  readonly input: InputProblems;
  readonly history: History;
  readonly programmed: ProgrammedVersions;
  /** Called after each sync of a family, before `synced`, and also if it failed. */
  readonly syncEnded: (family: Family, sync: EndedSync) => void;
  /** Called after each sync of a family that succeeded. */
  readonly synced: (family: Family) => void;
  /** The node, as the plans see it. */
  readonly node: (family: Family) => NodeTopology;
  /** The condition of the mode may have changed. */
  readonly conditionChanged: () => void;
  /** A Service, named `ns/name`, asks for an algorithm that the mode does not have. */
  readonly balanceUnavailable: (service: string, reason: string) => void;
  /** The proxy could not end connections of endpoints of this Service. */
  readonly connectionsNotEnded: (service: string, reason: string) => void;
  readonly ejectionChanged: (report: EjectionReport) => void;
  readonly setAside: ModeEvents['setAside'];
  readonly driftRepaired: ModeEvents['driftRepaired'];
}

/** Writes what the proxy reports to the log, the metrics and the health. */
export function proxyListeners(targets: ReportTargets): ProxyListeners {
  const { log, metrics } = targets;
  return {
    ...endListeners(targets),
    ...ejectionListeners(targets),
    loop: loopListener(targets),
    mode: modeEvents(targets),
    staleFlowSearchStarted: ipFamily => log.v(4, 'conntrack', 'Looking for stale flows', { ipFamily }),
    staleFlowFound(ipFamily, { protocol, destination, answeredBy }) {
      if (!log.isEnabled(6, 'conntrack')) return;
      const [to, endpoint] = [destination, answeredBy].map(({ ip, port }) => joinHostPort(ip, port));
      log.v(6, 'conntrack', 'Deleting a stale flow', { ipFamily, protocol, to, endpoint });
    },
    staleFlowsCleaned(ipFamily, deleted, milliseconds) {
      metrics.conntrackReconciled(ipFamily, milliseconds / 1000, deleted);
      const fields = { ipFamily, entriesDeleted: deleted, took: millisecondsText(milliseconds) };
      log.v(4, 'conntrack', 'Looked for stale flows', fields);
      if (deleted > 0) log.info('conntrack', 'Deleted stale flows', { ipFamily, deleted });
    },
  };
}

function loopListener(targets: ReportTargets): LoopListener {
  const { log, health, metrics, input, history, programmed, synced, syncEnded, node } = targets;
  return {
    problem(problem) {
      input.add(problem);
      history.problem(problem);
    },
    balanceUnavailable: (service, reason) => targets.balanceUnavailable(service, reason),
    recovered(where) {
      input.recovered(where);
      history.recovered(where);
    },
    queued(family) {
      health.queuedUpdate(family);
      metrics.syncQueued(family);
    },
    syncStarted: family => health.syncStarted(family),
    allTaken() {
      history.taken();
      programmed.allTaken();
    },
    allWritten: () => programmed.allWritten(),
    changesTaken(family, diff, plans) {
      logChanges(log, family, diff, node(family));
      history.planned(family, diff, plans);
    },
    synced(family, report) {
      const latencyMs = history.synced(family, report);
      health.updated(family);
      measure({ metrics, log }, family, report);
      syncEnded(family, { ...report, latencyMs });
      synced(family);
      const { servicePorts, milliseconds, full } = report;
      const fields = { ipFamily: family, changedServicePorts: servicePorts, took: millisecondsText(milliseconds) };
      if (full) log.info('proxy', 'Synced all service ports', fields);
      else log.v(2, 'proxy', 'Synced the service ports that changed', fields);
    },
    syncFailed(family, { full, error, milliseconds }) {
      history.syncFailed(family, errorText(error));
      health.failed(family, errorText(error));
      syncEnded(family, { full, milliseconds, servicePorts: 0, error: errorText(error) });
      metrics.syncFinished(family, milliseconds / 1000, { full, success: false });
      log.error('proxy', 'Sync failed; the proxy will retry it', { ipFamily: family, full, err: errorText(error) });
    },
    failed: (action, error) => log.error('proxy', `Could not ${action}`, { err: errorText(error) }),
  };
}

function measure(
  { metrics, log }: Pick<ReportTargets, 'metrics' | 'log'>,
  ipFamily: Family,
  { milliseconds, full, triggerTimes }: SyncedReport,
): void {
  metrics.syncFinished(ipFamily, milliseconds / 1000, { full, success: true });
  const now = Date.now();
  const isLogged = log.isEnabled(4, 'proxy');
  for (const [service, times] of triggerTimes) {
    for (const time of times) {
      metrics.networkProgramming(ipFamily, (now - time) / 1000);
      if (!isLogged) continue;
      const elapsed = millisecondsText(now - time);
      log.v(4, 'proxy', 'Changed endpoints are programmed', { ipFamily, endpoint: service, elapsed });
    }
  }
}

function modeEvents(targets: ReportTargets): ModeEvents {
  const { mode, log, metrics, history, setAside, driftRepaired, conditionChanged } = targets;
  return {
    conditionChanged,
    progress: (ipFamily, done, of) => log.info(mode, 'Programming service ports', { ipFamily, done, of }),
    setAside(port) {
      const { family: ipFamily, protocol, cause } = port;
      const fields = { ipFamily, servicePort: setAsideName(port), protocol, code: cause.code, err: cause.message };
      log.error(mode, 'Service port set aside until it changes; all others are programmed', fields);
      metrics.setAside(ipFamily, cause.errno);
      history.setAside(port);
      setAside(port);
    },
    driftRepaired(ipFamily, repair) {
      log.warning(mode, 'Repaired rules that another program changed', { ipFamily, ...repair });
      metrics.driftRepaired(ipFamily);
      history.repaired(ipFamily, repair);
      driftRepaired(ipFamily, repair);
    },
    measured(family, measure) {
      if (measure.kind === 'batch') metrics.kernelBatch(family, measure.objects, measure.milliseconds / 1000);
      if (measure.kind === 'refused') metrics.kernelRefused(family);
    },
    listener: (ipFamily, { kind, ...fields }) =>
      kind === 'opened'
        ? log.v(4, mode, 'Created localhost nodeport proxy', { ipFamily, ...fields })
        : log.v(2, mode, 'Removing localhost nodeport proxy', { ipFamily, ...fields }),
    notice: (ipFamily, message) => log.warning(mode, message, { ipFamily }),
    failed: ({ family: ipFamily, action, upstreamLine = `Could not ${action}`, error }) =>
      log.error(mode, upstreamLine, { ...(ipFamily && { ipFamily }), err: errorText(error) }),
  };
}
