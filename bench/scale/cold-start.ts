import { setTimeout as sleep } from 'node:timers/promises';
import { repeated, single } from '../record/statistics.ts';
import { START_PAUSE_MS } from './connector.ts';
import type { MemoryUse, RunningProxy } from './running-proxy.ts';
import type { Stage } from './stage.ts';
import type { Subject } from './subjects.ts';

const TIMEOUT_MS = 600_000;
const SETTLED_MS = 3000;
const LOOK_MS = 100;

/** What one start was. Times are in milliseconds, memory is in mebibytes. */
export interface Start {
  readonly firstSync: number;
  readonly connectable: number;
  readonly cpu: number;
  readonly memory: MemoryUse;
  /** The peak of the proxy and its children together. */
  readonly peakOfAll: number;
  /** Services that no connection reached afterwards. */
  readonly failures: number;
}

/** Starts a proxy on a node without rules. It runs afterwards. */
export async function measureColdStart(stage: Stage, subject: Subject): Promise<Start> {
  stage.flushRules();
  const connected = stage.connector.untilAllConnect(stage.sampledAddresses(), START_PAUSE_MS);
  const proxy = stage.startProxy(subject);
  const peak = watchPeak(proxy);
  const firstSync = await proxy.firstSync(TIMEOUT_MS);
  const connectable = (await connected) - proxy.startedAt.sharedMs;
  const cpu = proxy.cpuMs();
  await sleep(SETTLED_MS);
  const memory = proxy.memory();
  const failures = await stage.connector.failures(stage.allAddresses());
  return { firstSync, connectable, cpu, memory, peakOfAll: peak.stop(), failures };
}

function watchPeak(proxy: RunningProxy) {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, proxy.residentOfAll());
  }, LOOK_MS);
  return {
    stop() {
      clearInterval(timer);
      return peak;
    },
  };
}

export function recordStarts(stage: Stage, subject: Subject, starts: readonly Start[]): void {
  const head = (name: string, unit: string, kind: 'time' | 'memory') =>
    stage.head('cold start', subject, { name, unit, kind });
  const values = (pick: (start: Start) => number) => starts.map(pick);
  stage.recorder.add(
    repeated(
      head('first sync', 'ms', 'time'),
      values(start => start.firstSync),
    ),
    repeated(
      head('all connectable', 'ms', 'time'),
      values(start => start.connectable),
    ),
    repeated(
      head('processor', 'ms', 'time'),
      values(start => start.cpu),
    ),
    repeated(
      head('resident', 'MiB', 'memory'),
      values(start => start.memory.resident),
    ),
    repeated(
      head('anonymous', 'MiB', 'memory'),
      values(start => start.memory.anonymous),
    ),
    repeated(
      head('peak', 'MiB', 'memory'),
      values(start => start.memory.peak),
    ),
    repeated(
      head('peak with children', 'MiB', 'memory'),
      values(start => start.peakOfAll),
    ),
    single(
      stage.head('cold start', subject, { name: 'Services that do not answer', unit: '', kind: 'count' }),
      Math.max(...values(start => start.failures)),
    ),
  );
}
