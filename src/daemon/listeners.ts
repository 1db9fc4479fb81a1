import { errorText } from '../lib/error-text.ts';
import type { ModeEvents } from '../modes/index.ts';
import type { Family } from '../net/index.ts';
import type { ProxyHealth } from '../observe/health/index.ts';
import type { Logger } from '../observe/logging/index.ts';
import type { ProxyMetrics } from '../observe/metrics/index.ts';
import type { LoopListener, ProxyListeners, SyncedReport } from '../proxy/index.ts';
import { logInputProblem, logInputRecovered } from './watch-report.ts';

/** Who is told of what the proxy does. */
export interface Audience {
  /** The mode's name, by which its log lines are found. */
  readonly mode: string;
  readonly log: Logger;
  readonly health: ProxyHealth;
  readonly metrics: ProxyMetrics;
  /** For what depends on what is programmed. */
  readonly synced: (family: Family) => void;
  readonly setAside: ModeEvents['setAside'];
  readonly driftRepaired: ModeEvents['driftRepaired'];
}

/** Tells the log, the metrics and the health of what the proxy does. */
export function proxyListeners(audience: Audience): ProxyListeners {
  const { log, metrics } = audience;
  const refused: Refused = new Map();
  return {
    loop: loopListener(audience, refused),
    mode: modeEvents(audience, refused),
    staleFlowsCleaned(ipFamily, deleted, milliseconds) {
      metrics.conntrackReconciled(ipFamily, milliseconds / 1000, deleted);
      if (deleted > 0) log.info('conntrack', 'Deleted stale flows', { ipFamily, deleted });
    },
  };
}

/** Whether what the running sync was last refused was only what changed. */
type Refused = Map<Family, 'partial' | 'full'>;

function loopListener(audience: Audience, refused: Refused): LoopListener {
  const { log, health, metrics } = audience;
  return {
    problem: problem => logInputProblem(log, problem),
    recovered: where => logInputRecovered(log, where),
    queued(family) {
      health.queuedUpdate(family);
      metrics.syncQueued(family);
    },
    syncStarted(family) {
      refused.delete(family);
      health.syncStarted(family);
    },
    synced(family, report) {
      health.updated(family);
      measure(metrics, family, report);
      audience.synced(family);
      const { servicePorts, milliseconds, full } = report;
      const fields = { ipFamily: family, changedServicePorts: servicePorts, took: `${milliseconds.toFixed(1)}ms` };
      if (full) log.info('proxy', 'Synced everything', fields);
      else log.v(2, 'proxy', 'Synced', fields);
    },
    syncFailed(family, error, milliseconds) {
      health.failed(family, errorText(error));
      // One that failed before there was anything to refuse was about to look at everything.
      const full = refused.get(family) !== 'partial';
      metrics.syncFinished(family, milliseconds / 1000, { full, success: false });
      log.error('proxy', 'Sync failed; it will be tried again', { ipFamily: family, err: errorText(error) });
    },
    failed: (what, error) => log.error('proxy', 'Failed', { what, err: errorText(error) }),
  };
}

function measure(metrics: ProxyMetrics, family: Family, { milliseconds, full, triggerTimes }: SyncedReport): void {
  metrics.syncFinished(family, milliseconds / 1000, { full, success: true });
  const now = Date.now();
  for (const time of triggerTimes) metrics.networkProgramming(family, (now - time) / 1000);
}

function modeEvents({ mode, log, metrics, setAside, driftRepaired }: Audience, refused: Refused): ModeEvents {
  return {
    progress: (ipFamily, servicePorts, of) => log.info(mode, 'Programming', { ipFamily, servicePorts, of }),
    setAside(port) {
      const { family: ipFamily, servicePort, error: err } = port;
      log.error(mode, 'Could not be programmed; set aside until it changes', { ipFamily, servicePort, err });
      metrics.setAside(port);
      setAside(port);
    },
    driftRepaired(ipFamily, what) {
      log.warning(mode, 'Repaired what someone else changed', { ipFamily, what });
      metrics.driftRepaired(ipFamily);
      driftRepaired(ipFamily, what);
    },
    measured(family, measured) {
      if (measured.kind === 'refused') refused.set(family, measured.partial ? 'partial' : 'full');
      metrics.measured(family, measured);
    },
    noticed: (ipFamily, what) => log.warning(mode, 'Noticed', { ipFamily, what }),
    failed: (what, error) => log.error(mode, 'Failed', { what, err: errorText(error) }),
  };
}
