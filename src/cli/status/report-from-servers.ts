import { hostname } from 'node:os';
import { isRecord } from '../../lib/is-record.ts';
import { parseJson } from '../../lib/parse-json.ts';
import { nodeNameFrom } from '../../model/index.ts';
import { type Answer, ask } from './ask.ts';
import {
  type CheckStatus,
  type FamilyStatus,
  type ServerStatus,
  STATUS_REPORT_SCHEMA,
  type StatusReport,
} from './report.ts';
import { type Sample, samplesOf } from './samples.ts';

export interface StatusAddresses {
  readonly health: string;
  readonly metrics: string;
}

const BUILD_INFO = 'kubernetes_build_info';
const SERVICE_PORTS = 'pointsman_service_ports';
const SYNC_FAILURES = 'pointsman_sync_failures_total';
const DRIFT_REPAIRS = 'pointsman_drift_repairs_total';
const METRICS = new Set([BUILD_INFO, SERVICE_PORTS, SYNC_FAILURES, DRIFT_REPAIRS]);

/** Asks the health server and the metrics server, which every kube-proxy has. */
export async function reportFromServers({ health, metrics }: StatusAddresses): Promise<StatusReport> {
  const [livez, healthz, readyz, mode, configz, texts] = await Promise.all([
    ask(health, '/livez'),
    ask(health, '/healthz'),
    ask(health, '/readyz?verbose'),
    ask(metrics, '/proxyMode'),
    ask(metrics, '/configz'),
    ask(metrics, '/metrics'),
  ]);
  const samples = samplesOf(bodyOf(texts) ?? '', METRICS);
  const ready = isOk(hasPath(readyz) ? readyz : healthz);
  const alive = isOk(livez);
  const known = healthz.kind === 'answer';
  return {
    schema: STATUS_REPORT_SCHEMA,
    verdict: !known ? 'unknown' : ready && alive ? 'healthy' : 'unhealthy',
    node: nodeName(configz),
    ...versionOf(samples),
    ...optional('mode', bodyOf(mode)),
    ...(known ? { alive, ready, ...eligibility(healthz) } : {}),
    families: familiesOf(healthz, samples),
    ...optional('failedSyncs', sum(samples, SYNC_FAILURES)),
    ...optional('driftRepairs', sum(samples, DRIFT_REPAIRS)),
    checks: hasPath(readyz) ? checksOf(readyz) : [],
    servers: { health: serverStatus(health, healthz), metrics: serverStatus(metrics, mode) },
  };
}

function isOk(answer: Answer): boolean {
  return answer.kind === 'answer' && answer.status === 200;
}

/** Upstream has no `/readyz`. */
function hasPath(answer: Answer): boolean {
  return answer.kind === 'answer' && answer.status !== 404;
}

function bodyOf(answer: Answer): string | undefined {
  return answer.kind === 'answer' && answer.status === 200 ? answer.body : undefined;
}

function serverStatus(address: string, answer: Answer): ServerStatus {
  return answer.kind === 'none' ? { address, reason: answer.reason } : { address };
}

/** The name that the proxy uses, if the configuration has it. Otherwise that of this machine. */
function nodeName(configz: Answer): string {
  const configuration = fieldOf(jsonOf(configz), 'kubeproxy.config.k8s.io');
  const override = fieldOf(configuration, 'hostnameOverride');
  return nodeNameFrom(typeof override === 'string' ? override : '', hostname()) ?? 'localhost';
}

function versionOf(samples: readonly Sample[]): Pick<StatusReport, 'program' | 'kubernetesVersion'> {
  const build = samples.find(({ name }) => name === BUILD_INFO);
  if (!build) return {};
  const isOurs = samples.some(({ name }) => name === SERVICE_PORTS || name === SYNC_FAILURES);
  return {
    program: isOurs ? 'Pointsman' : 'kube-proxy',
    ...optional('kubernetesVersion', build.labels.get('git_version')),
  };
}

function eligibility(healthz: Answer): Pick<StatusReport, 'nodeEligible'> {
  const eligible = fieldOf(jsonOf(healthz), 'nodeEligible');
  return typeof eligible === 'boolean' ? { nodeEligible: eligible } : {};
}

function familiesOf(healthz: Answer, samples: readonly Sample[]): readonly FamilyStatus[] {
  const body = jsonOf(healthz);
  const now = timeOf(fieldOf(body, 'currentTime'));
  const status = fieldOf(body, 'status');
  return Object.entries(isRecord(status) ? status : {}).map(([family, state]) => {
    const last = timeOf(fieldOf(state, 'lastUpdated'));
    const ports = (status: string) => sum(samples, SERVICE_PORTS, { ip_family: family, status });
    return {
      family,
      healthy: fieldOf(state, 'healthy') === true,
      // Go's zero time stands for never.
      ...(last > 0 ? { lastSyncSeconds: Math.max(0, Math.round((now - last) / 1000)) } : {}),
      ...optional('programmed', ports('programmed')),
      ...optional('setAside', ports('set_aside')),
    };
  });
}

function timeOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

/** `[-]sync-IPv4 failed: …`. The last line is the summary. */
function checksOf(readyz: Answer): readonly CheckStatus[] {
  const lines = readyz.kind === 'answer' ? readyz.body.split('\n') : [];
  return lines.flatMap(line => {
    const [, mark, text = ''] = /^\[([-+])\](.*)$/.exec(line) ?? [];
    return mark === undefined ? [] : [{ passed: mark === '+', text }];
  });
}

/** Undefined if there is no such sample. */
function sum(samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}) {
  const matching = samples.filter(
    sample =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels.get(label) === value),
  );
  return matching.length === 0 ? undefined : matching.reduce((total, { value }) => total + value, 0);
}

function optional<Name extends string, T>(name: Name, value: T | undefined): Partial<Record<Name, T>> {
  return value === undefined ? {} : ({ [name]: value } as Partial<Record<Name, T>>);
}

function jsonOf(answer: Answer): unknown {
  if (answer.kind === 'none') return undefined;
  try {
    return parseJson(answer.body);
  } catch {
    // Another program may listen at this address.
    return undefined;
  }
}

function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}
