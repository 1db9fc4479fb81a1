import * as inspect from '../../inspect/index.ts';
import { isRecord } from '../../lib/is-record.ts';
import type { Problem } from '../../lib/problem.ts';
import type { ProxySocket } from '../proxy-socket.ts';
import { type CheckStatus, type FamilyStatus, STATUS_REPORT_SCHEMA, type StatusReport } from './report.ts';

const TIMEOUT_MS = 3000;

/** Asks the running proxy through its socket. Rejects with a `ProxyClientError`. */
export async function reportFromSocket(socket: ProxySocket, now = Date.now()): Promise<StatusReport> {
  const answer = await socket.ask('/v1/status', { timeoutMs: TIMEOUT_MS });
  if (!isStatus(answer)) throw new Error(`the answer at ${socket.path} is no status of a Pointsman proxy`);
  return reportOf(answer, socket.path, now);
}

/** The schema says that the other fields are there. */
function isStatus(answer: unknown): answer is inspect.ProxyStatus {
  return isRecord(answer) && answer.schema === inspect.STATUS_SCHEMA;
}

function reportOf(status: inspect.ProxyStatus, address: string, now: number): StatusReport {
  const { version, kubernetesVersion, node, mode, pid, startedAt, uptimeSeconds, alive, ready, drift } = status;
  return {
    schema: STATUS_REPORT_SCHEMA,
    verdict: alive && ready ? 'healthy' : 'unhealthy',
    node,
    program: 'Pointsman',
    version,
    kubernetesVersion,
    mode,
    pid,
    startedAt,
    uptimeSeconds,
    alive,
    ready,
    nodeEligible: status.nodeEligible,
    pending: status.pending,
    ...(status.programmed ? { programmed: status.programmed } : {}),
    families: status.families.map(family => familyStatus(family, now)),
    syncs: status.syncs,
    failedSyncs: status.failedSyncs,
    driftRepairs: drift.repairs,
    ...(drift.last ? { lastRepair: drift.last } : {}),
    memory: status.memory,
    ...(status.source === 'cluster' ? { watches: status.watches } : {}),
    checks: status.checks.map(checkStatus),
    ...(status.condition ? { condition: status.condition } : {}),
    servers: { socket: { address } },
  };
}

function familyStatus(
  { family, healthy, lastSync, error, servicePorts }: inspect.FamilyStatus,
  now: number,
): FamilyStatus {
  return {
    family,
    healthy,
    ...(lastSync === undefined
      ? {}
      : { lastSyncSeconds: Math.max(0, Math.round((now - Date.parse(lastSync)) / 1000)) }),
    ...servicePorts,
    ...(error === undefined ? {} : { error }),
  };
}

/** In the words of `/readyz?verbose`. */
function checkStatus({ name, ready, note, problems }: inspect.CheckStatus): CheckStatus {
  const reasons = [...(note === undefined ? [] : [note]), ...problems.map(problemText)];
  const head = `${name} ${ready ? 'ok' : 'failed'}`;
  return { passed: ready, text: reasons.length === 0 ? head : `${head}: ${reasons.join('; ')}` };
}

function problemText({ object, field, message }: Problem): string {
  const subject = [object, field].filter(part => part !== undefined).join(' ');
  return subject === '' ? message : `${subject}: ${message}`;
}
