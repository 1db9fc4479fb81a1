import { durationWords } from '../../lib/duration-words.ts';
import { printable } from '../../lib/printable.ts';
import type { Style } from '../style.ts';
import { columns } from '../terminal-text.ts';
import type { CheckStatus, FamilyStatus, StatusReport } from './report.ts';

const MAX_SYNCS = 3;

/** Returns the report as text for a terminal. `now` is in milliseconds since 1970. */
export function statusText(report: StatusReport, style: Style, now = Date.now()): string {
  const lines = [
    headline(report, style),
    ...facts(report, style, now),
    ...checkLines(report, style),
    ...advice(report),
  ];
  return lines.map(line => `${line}\n`).join('');
}

function headline({ verdict, node, servers }: StatusReport, style: Style): string {
  switch (verdict) {
    case 'healthy':
      return `${style.green('✓')} ${style.bold(`The proxy of node ${printable(node)} is healthy`)}`;
    case 'unhealthy':
      return `${style.red('✗')} ${style.bold(`The proxy of node ${printable(node)} is not healthy`)}`;
    case 'unknown': {
      const mark = style.yellow('?');
      // The reason of the socket names its path.
      if (!servers.health)
        return `${mark} ${style.bold('No proxy answers')}: ${printable(servers.socket?.reason ?? '')}`;
      const { address, reason = '' } = servers.health;
      return `${mark} ${style.bold(`No proxy answers at ${printable(address)}`)}: ${printable(reason)}`;
    }
  }
}

type Row = readonly [name: string, text: string | undefined];

function facts(report: StatusReport, style: Style, now: number): readonly string[] {
  const { alive, nodeEligible, failedSyncs, servers } = report;
  const rows: readonly Row[] = [
    ['version', versionText(report)],
    ['mode', report.mode],
    ['running', runningText(report)],
    ...report.families.map(family => [family.family, familyText(family)] as const),
    ['programmed', programmedText(report)],
    ...syncRows(report, now),
    ['failed syncs', failedSyncs?.toString()],
    ['drift', driftText(report, now)],
    ['memory', report.memory && `${Math.round(report.memory.resident / 1e6)} MB`],
    ...watchRows(report),
    ['metrics', servers.metrics?.reason && `no answer at ${servers.metrics.address}: ${servers.metrics.reason}`],
    ['socket', report.verdict === 'unknown' ? undefined : servers.socket?.reason],
  ];
  const shown = [
    ...rows.map(([name, text]) => [name, text && printable(text)] as const),
    ['alive', alive === false ? style.red('no: the kubelet restarts the pod') : undefined] as const,
    ['node', nodeEligible === false ? style.yellow('load balancers must not send traffic to it') : undefined] as const,
  ].flatMap(([name, text]) => (text === undefined ? [] : [[style.dim(name), text]]));
  return columns(shown).map(line => `  ${line}`);
}

function versionText({ program, version, kubernetesVersion = '' }: StatusReport): string | undefined {
  if (program === undefined) return undefined;
  return `${program}${version === undefined ? '' : ` ${version}`}, Kubernetes ${kubernetesVersion}`;
}

function runningText({ uptimeSeconds, startedAt = '', pid }: StatusReport): string | undefined {
  if (uptimeSeconds === undefined) return undefined;
  return `for ${durationWords(uptimeSeconds)}, since ${startedAt.replace(/\.\d+/, '')}, as process ${pid}`;
}

function familyText({ healthy, lastSyncSeconds, programmed, setAside, error }: FamilyStatus): string {
  const sync = lastSyncSeconds === undefined ? 'no sync yet' : `last sync ${lastSyncSeconds} s ago`;
  const ports = programmed === undefined ? '' : `${programmed} service ports programmed, ${setAside ?? 0} set aside`;
  const failure = error === undefined ? '' : `the last sync failed: ${error}`;
  return [healthy ? '' : 'not healthy', sync, ports, failure].filter(Boolean).join(', ');
}

function programmedText({ programmed }: StatusReport): string | undefined {
  const { services, endpointSlices } = programmed ?? {};
  if (services === undefined || endpointSlices === undefined) return undefined;
  return `Services up to version ${services}, EndpointSlices up to version ${endpointSlices}`;
}

function syncRows({ syncs = [] }: StatusReport, now: number): readonly Row[] {
  return syncs.slice(0, MAX_SYNCS).map(({ at, family, full, servicePorts, milliseconds, error }, i) => {
    const ports = `${servicePorts} service ${servicePorts === 1 ? 'port' : 'ports'} changed`;
    const done = error === undefined ? `${ports}, ${milliseconds} ms` : `failed: ${error}`;
    return [i === 0 ? 'last syncs' : '', `${ago(at, now)}, ${family}, ${full ? 'full' : 'partial'} sync: ${done}`];
  });
}

function driftText({ driftRepairs, lastRepair }: StatusReport, now: number): string | undefined {
  if (driftRepairs === undefined) return undefined;
  const count = `${driftRepairs} ${driftRepairs === 1 ? 'repair' : 'repairs'}`;
  if (!lastRepair) return count;
  return `${count}, the last ${ago(lastRepair.at, now)} (${lastRepair.family}): ${lastRepair.cause}; the proxy repaired it: ${lastRepair.written}`;
}

function watchRows({ watches = [] }: StatusReport): readonly Row[] {
  return watches.map(({ path, synced, silentSeconds, problem }, i) => {
    const age = silentSeconds === undefined ? 'no message yet' : `last message ${silentSeconds} s ago`;
    const state = [synced ? '' : 'not all objects received', age, problem ?? ''].filter(Boolean).join(', ');
    return [i === 0 ? 'watches' : '', `${path}: ${state}`];
  });
}

function ago(time: string, now: number): string {
  return `${durationWords(Math.max(0, (now - Date.parse(time)) / 1000))} ago`;
}

/**
 * The socket reports every check. Of `/readyz`, those that passed are shown only if they have a note, and not if the
 * facts above them have it.
 */
function checkLines({ checks, syncs }: StatusReport, style: Style): readonly string[] {
  const isComplete = syncs !== undefined;
  return checks.flatMap(({ passed, text }: CheckStatus) => {
    if (!passed) return [`  ${style.red('✗')} ${printable(text)}`];
    const isNoted = text.includes(' ok: ') && !/^(?:sync-|watch |drift |sockets ok: serving:)/.test(text);
    if (isNoted) return [`  ${style.yellow('!')} ${printable(text)}`];
    return isComplete ? [`  ${style.green('✓')} ${printable(text)}`] : [];
  });
}

function advice({ verdict, servers }: StatusReport): readonly string[] {
  if (verdict !== 'unknown' || !servers.health) return [];
  return [
    '  Check that',
    '  - a proxy runs on this node: kubectl -n kube-system get pods -o wide | grep -E "kube-proxy|pointsman"',
    '  - this command runs in the network of the node, for example in the pod of the proxy',
    '  - the address is right: --config FILE or --healthz-bind-address ADDRESS names another one',
  ];
}
