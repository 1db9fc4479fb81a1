import type { EndpointReport, FrontendReport, PortReport } from '../../inspect/index.ts';
import { printable } from '../../lib/printable.ts';
import type { Problem } from '../../lib/problem.ts';
import { joinHostPort } from '../../net/index.ts';
import { balanceText, weightText } from '../../plan/index.ts';
import type { Style } from '../style.ts';
import { columns } from '../terminal-text.ts';
import type { PlanReport } from './report.ts';

/** Returns the report as text for a terminal. */
export function planText(report: PlanReport, style: Style): string {
  const blocks = report.services.flatMap(({ namespace, name, ports }) =>
    ports.map(port => portText(`${namespace}/${name}`, port, style)),
  );
  const { notServed } = report;
  if (notServed.length > 0) blocks.push(notServedText(notServed, style));
  const problems = report.problems.map(problem => problemText(problem, style));
  if (problems.length > 0) blocks.push([style.bold(`Problems (${problems.length})`), ...problems].join('\n'));
  return `${[nodeText(report, style), ...blocks].join('\n\n')}\n`;
}

export function problemText({ where, object, field, message }: Problem, style: Style): string {
  const place = [where, object].filter(Boolean).join(': ');
  const text = [place, [field, message].filter(Boolean).join(' ')].filter(Boolean).join(': ');
  // Names in manifests can have any characters, and a terminal obeys some of them.
  return `  ${style.red('✗')} ${printable(text)}`;
}

function nodeText({ node, services, notes }: PlanReport, style: Style): string {
  const zone = node.zone === '' ? 'no zone' : `zone ${node.zone}`;
  const count = `${services.length} ${services.length === 1 ? 'Service' : 'Services'}`;
  const line = `${style.bold(`Node ${node.name}`)}  ${zone}, ${node.addresses.join(' ')}  ${style.dim(count)}`;
  return [line, ...notes.map(note => `  ${style.yellow('!')} ${note}`)].join('\n');
}

function notServedText(services: PlanReport['notServed'], style: Style): string {
  const rows = services.map(({ namespace, name, reason }) => [`${namespace}/${name}`, style.dim(reason)]);
  return [style.bold(`Not served (${services.length})`), ...indentedColumns(rows)].join('\n');
}

function portText(service: string, port: PortReport, style: Style): string {
  const title = style.bold(port.name === '' ? service : `${service}:${port.name}`);
  const traits = [
    `${port.protocol} ${port.family}`,
    port.internalTrafficPolicy === 'Local' ? 'internal policy Local' : '',
    port.externalTrafficPolicy === 'Local' ? 'external policy Local' : '',
    port.affinitySeconds ? `ClientIP affinity ${port.affinitySeconds} s` : '',
    port.balance ? `balance ${balanceText(port.balance)}` : '',
    port.slowStartSeconds ? `slow start ${port.slowStartSeconds} s` : '',
    port.ejectAfterFailures ? `left out after ${failuresText(port.ejectAfterFailures)}` : '',
    port.resetAfterSeconds === undefined ? '' : `connections end ${endText(port.resetAfterSeconds)}`,
    port.healthCheckNodePort ? `health check on port ${port.healthCheckNodePort}` : '',
  ];
  const clusterCount = port.endpoints.filter(({ clusterPolicy }) => clusterPolicy?.used).length;
  return [
    `${title}  ${style.dim(traits.filter(Boolean).join(', '))}`,
    ...indentedColumns(port.frontends.map(frontend => frontendCells(frontend, clusterCount, style))),
    ...(port.topology ? [`  ${style.yellow('!')} ${port.topology}`] : []),
    ...(port.endpoints.length === 0
      ? [style.dim('  no endpoints')]
      : indentedColumns(port.endpoints.map(e => endpointCells(e, style)))),
  ].join('\n');
}

function failuresText(count: number): string {
  return count === 1 ? '1 failure' : `${count} failures`;
}

function endText(seconds: number): string {
  return seconds === 0 ? 'with their endpoint' : `${seconds} s after their endpoint`;
}

function frontendCells(frontend: FrontendReport, clusterCount: number, style: Style): string[] {
  return [style.cyan(frontendAddress(frontend)), frontend.kind, frontendAction(frontend, clusterCount, style)];
}

/** A node port with several addresses has them among its notes. */
function frontendAddress({ address, acceptedAt, port }: FrontendReport): string {
  const [only, ...more] = address ? [address] : acceptedAt === 'all' ? [] : (acceptedAt ?? []);
  return only === undefined || more.length > 0 ? `*:${port}` : joinHostPort(only, port);
}

/** Where a node port is accepted, if the address does not say it. */
function acceptedText({ acceptedAt }: FrontendReport): string {
  if (acceptedAt === undefined) return '';
  if (acceptedAt === 'all') return 'at every address of the node';
  if (acceptedAt.length === 0) return 'at no address of the node: nodePortAddresses has none of them';
  return acceptedAt.length > 1 ? `at ${acceptedAt.join(', ')}` : '';
}

function frontendAction(frontend: FrontendReport, clusterCount: number, style: Style): string {
  const { action, policy, endpoints, shortCircuit, masquerade, sourceRanges } = frontend;
  const counted = (n: number, local: boolean) => `${n}${local ? ' local' : ''} endpoint${n === 1 ? '' : 's'}`;
  const main = {
    forward: style.green(`→ ${counted(endpoints, policy === 'Local')}`),
    reject: style.red('reject: no endpoint can serve'),
    drop: style.yellow('drop: no local endpoint'),
  }[action];
  const shortCut = { none: '', node: 'the node itself', 'pods-and-node': 'pods and the node itself' }[shortCircuit];
  const masqueraded = {
    never: '',
    'from-outside': 'outsiders',
    'from-node': "the node's own traffic",
    always: 'everyone',
  }[masquerade];
  const notes = [
    acceptedText(frontend),
    shortCut ? `${shortCut} → ${counted(clusterCount, false)}` : '',
    sourceRanges ? `only from ${sourceRanges.join(', ')}` : '',
    masqueraded && action !== 'reject' ? `masquerades ${masqueraded}` : '',
  ];
  return [main, ...notes.filter(Boolean).map(style.dim)].join('; ');
}

function endpointCells(endpoint: EndpointReport, style: Style): string[] {
  const { address, node, clusterPolicy, localPolicy } = endpoint;
  const decisions = [clusterPolicy, localPolicy];
  const used = decisions.some(decision => decision?.used);
  const labelled = [clusterPolicy && `cluster: ${clusterPolicy.reason}`, localPolicy && `local: ${localPolicy.reason}`];
  const same = clusterPolicy && localPolicy && clusterPolicy.reason === localPolicy.reason;
  const reasons = same || !(clusterPolicy && localPolicy) ? decisions.find(Boolean)?.reason : labelled.join(', ');
  return [
    `${used ? style.green('✓') : style.dim('·')} ${address}`,
    node ?? '',
    used ? (reasons ?? '') : style.dim(reasons ?? ''),
    style.dim(balanceCell(endpoint)),
  ];
}

/** `weight 3, gets 60 %`. Empty without a balance. */
function balanceCell({ clusterPolicy, localPolicy, weight, part }: EndpointReport): string {
  const [cluster, local] = [shareText(clusterPolicy?.share), shareText(localPolicy?.share)];
  const shares = cluster && local && cluster !== local ? `${cluster}, local ${local}` : cluster || local;
  // The reason says it already.
  const weighed = !weight ? '' : weightText({ weight, ...(part === undefined ? {} : { part }) });
  return [weighed, shares && `gets ${shares}`].filter(Boolean).join(', ');
}

function shareText(share: number | undefined): string {
  if (share === undefined) return '';
  const percent = share * 100;
  return `${percent >= 10 ? Math.round(percent) : Number(percent.toPrecision(2))} %`;
}

function indentedColumns(rows: readonly (readonly string[])[]): string[] {
  return columns(rows).map(line => `  ${line}`.trimEnd());
}
