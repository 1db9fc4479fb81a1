import { printable } from '../../lib/printable.ts';
import type { Style } from '../style.ts';
import { columns } from '../terminal-text.ts';
import type { CheckStatus, FamilyStatus, StatusReport } from './report.ts';

/** Returns the report as text for a terminal. */
export function statusText(report: StatusReport, style: Style): string {
  const lines = [
    headline(report, style),
    ...facts(report, style),
    ...checkLines(report.checks, style),
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
    case 'unknown':
      return `${style.yellow('?')} ${style.bold(`No proxy answers at ${servers.health.address}`)}: ${servers.health.reason}`;
  }
}

function facts(report: StatusReport, style: Style): readonly string[] {
  const { program, kubernetesVersion = '', mode, alive, nodeEligible, failedSyncs, driftRepairs, servers } = report;
  const rows: readonly (readonly [name: string, text: string | undefined])[] = [
    ['version', program && `${program}, Kubernetes ${kubernetesVersion}`],
    ['mode', mode],
    ...report.families.map(family => [family.family, familyText(family)] as const),
    ['failed syncs', failedSyncs?.toString()],
    ['drift', driftRepairs === undefined ? undefined : `${driftRepairs} ${driftRepairs === 1 ? 'repair' : 'repairs'}`],
    ['alive', alive === false ? style.red('no: the kubelet restarts the pod') : undefined],
    ['node', nodeEligible === false ? style.yellow('load balancers must not send traffic to it') : undefined],
    ['metrics', servers.metrics.reason && `no answer at ${servers.metrics.address}: ${servers.metrics.reason}`],
  ];
  const shown = rows.flatMap(([name, text]) => (text === undefined ? [] : [[style.dim(name), text]]));
  return columns(shown).map(line => `  ${line}`);
}

function familyText({ healthy, lastSyncSeconds, programmed, setAside }: FamilyStatus): string {
  const sync = lastSyncSeconds === undefined ? 'no sync yet' : `last sync ${lastSyncSeconds} s ago`;
  const ports = programmed === undefined ? '' : `${programmed} service ports programmed, ${setAside ?? 0} set aside`;
  return [healthy ? '' : 'not healthy', sync, ports].filter(Boolean).join(', ');
}

/** Checks that passed are shown only if they have a note. The facts above them have what syncs, watches and drift note. */
function checkLines(checks: readonly CheckStatus[], style: Style): readonly string[] {
  return checks.flatMap(({ passed, text }) => {
    if (!passed) return [`  ${style.red('✗')} ${printable(text)}`];
    const isNoted = text.includes(' ok: ') && !/^(?:sync-|watch |drift )/.test(text);
    return isNoted ? [`  ${style.yellow('!')} ${printable(text)}`] : [];
  });
}

function advice({ verdict }: StatusReport): readonly string[] {
  if (verdict !== 'unknown') return [];
  return [
    '  Check that',
    '  - a proxy runs on this node: kubectl -n kube-system get pods -o wide | grep -E "kube-proxy|pointsman"',
    '  - this command runs in the network of the node, for example in the pod of the proxy',
    '  - the address is right: --config FILE or --healthz-bind-address ADDRESS names another one',
  ];
}
