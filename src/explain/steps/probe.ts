import { objectName } from '../../api/index.ts';
import type { ProbeResult } from '../../machine/index.ts';
import { joinHostPort } from '../../net/index.ts';
import type { NextStep } from '../explanation.ts';
import type { KernelFacts } from '../facts.ts';
import { aligned, counted, type Finding, finding } from '../finding.ts';
import type { Outcome } from '../outcome.ts';
import { reachedEndpoints } from '../reached-endpoints.ts';
import type { MetFrontend } from '../target.ts';

const MAX_PROBES = 50;
/** Outcomes that say nothing about the endpoint. */
const OPEN = new Set<ProbeResult['outcome']>(['cannot tell', 'unsupported', 'not probed']);

/** Connects to every endpoint from the node, so that a silent pod is not taken for a fault of the proxy. */
export async function probeStep(
  met: MetFrontend,
  outcome: Outcome,
  kernel: KernelFacts | undefined,
): Promise<Finding | undefined> {
  if (!kernel?.probe) {
    return finding('probe', 'unknown', 'Only a running proxy can probe endpoints; ask the one on the node.');
  }
  const endpoints = reachedEndpoints(met, outcome).slice(0, MAX_PROBES);
  if (endpoints.length === 0) return undefined;
  const results = await kernel.probe(endpoints.map(({ ip, port }) => ({ protocol: met.protocol, ip, port })));
  const lines = aligned(results.map(result => [`${markOf(result)} ${addressOf(result)}`, resultText(result)]));
  const failed = results.filter(result => result.outcome !== 'connected' && !OPEN.has(result.outcome));
  const open = results.filter(result => OPEN.has(result.outcome));
  const data = { results };
  const [first] = failed;
  if (first) {
    const text = `${failed.length} of ${counted(results.length, 'endpoint')} ${failed.length === 1 ? 'does' : 'do'} not answer the node.`;
    const summary = `The proxy is right, the endpoint is not: ${addressOf(first)} ${failureText(first)}.`;
    return finding('probe', 'bad', text, { details: lines, data, summary, next: nextStep(first, met) });
  }
  if (open.length > 0) {
    return finding(
      'probe',
      'note',
      `The probe cannot tell whether ${counted(open.length, 'endpoint')} serves ${met.protocol}.`,
      { details: lines, data },
    );
  }
  const text = `${results.length === 1 ? 'The endpoint answers' : `All ${results.length} endpoints answer`} the node.`;
  return finding('probe', 'good', text, { details: lines, data });
}

function addressOf({ endpoint: { ip, port } }: ProbeResult): string {
  return joinHostPort(ip, port);
}

function markOf({ outcome }: ProbeResult): string {
  if (outcome === 'connected') return '✓';
  return OPEN.has(outcome) ? '?' : '✗';
}

function resultText({ outcome, ms, detail }: ProbeResult): string {
  return outcome === 'failed' && detail !== undefined
    ? `failed: ${detail}`
    : `${outcome} after ${Math.max(1, Math.round(ms))} ms`;
}

function failureText({ outcome, detail }: ProbeResult): string {
  switch (outcome) {
    case 'refused':
      return 'refuses the connection';
    case 'timeout':
      return 'does not answer in time';
    case 'reset':
      return 'ends the connection at once';
    case 'no route':
    case 'network unreachable':
      return 'cannot be reached from this node';
    case 'not permitted':
      return 'is forbidden by a rule of this node';
    default:
      return `fails (${detail ?? outcome})`;
  }
}

function nextStep({ outcome, endpoint }: ProbeResult, { plan }: MetFrontend): NextStep {
  const { namespace } = objectName(plan.service);
  const pods = `kubectl -n ${namespace} get pods -o wide --field-selector status.podIP=${endpoint.ip}`;
  switch (outcome) {
    case 'refused':
    case 'reset':
      return { text: `check that the pod listens at port ${endpoint.port}, which is the targetPort`, command: pods };
    case 'no route':
    case 'network unreachable':
      return { text: 'check the pod network', command: `ip route get ${endpoint.ip}` };
    default:
      return { text: 'check NetworkPolicies and the pod network between the nodes', command: pods };
  }
}
