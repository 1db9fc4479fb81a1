import { cidrContains, formatCidr } from '../../net/index.ts';
import type { Firewall, Frontend } from '../../plan/index.ts';
import type { DetectedCaller, UnknownCaller } from '../caller-detection.ts';
import { excludesEvery } from '../connection-outcome.ts';
import type { Facts } from '../facts.ts';
import { type Finding, finding } from '../finding.ts';
import type { MetFrontend } from '../target.ts';

/** The caller, how it was detected, and what policies and source ranges mean for it. */
export function callerStep(detected: DetectedCaller, met: MetFrontend | undefined, facts: Facts): Finding {
  const details = met ? policyLines(met.frontend, detected) : [];
  const { firewall } = met?.frontend ?? {};
  const ranges = firewall?.sourceRanges.map(formatCidr);
  const data = {
    place: detected.caller.place,
    ip: detected.ip,
    how: detected.how,
    pod: detected.pod,
    sourceRanges: ranges,
  };
  const text = detected.isAssumed
    ? `The caller is ${detected.how}.`
    : `The caller${detected.ip === undefined ? '' : ` ${detected.ip}`} is ${detected.how}.`;
  const { otherNode } = detected;
  if (otherNode !== undefined && met?.frontend.kind !== 'NodePort') {
    return otherNodeFinding(otherNode, { text, details, data }, facts);
  }
  if (!met || !firewall) return finding('caller', 'good', text, { details, data });
  return sourceRangeFinding(detected, firewall, { text, details, data, service: met.plan.service });
}

interface CallerTexts {
  readonly text: string;
  readonly details: readonly string[];
  readonly data: object;
  readonly service: string;
}

function sourceRangeFinding(detected: DetectedCaller, firewall: Firewall, texts: CallerTexts): Finding {
  const { text, details, data, service } = texts;
  const ranges = firewall.sourceRanges.map(formatCidr).join(', ');
  if (detected.ip === undefined && !excludesEvery(firewall, detected)) {
    const line = `Only callers in ${ranges} may connect (loadBalancerSourceRanges). Give --from IP to check one.`;
    return finding('caller', 'unknown', text, { details: [...details, line], data, summary: line });
  }
  if (mayPass(detected, firewall)) {
    return finding('caller', 'good', text, {
      details: [...details, `loadBalancerSourceRanges (${ranges}) allows it.`],
      data,
    });
  }
  const excluded = detected.ip ?? (detected.range ? `pods (${formatCidr(detected.range)})` : 'the caller');
  const line = `loadBalancerSourceRanges (${ranges}) does not contain ${excluded}, so its packets are dropped.`;
  const [namespace, name] = service.split('/');
  const command = `kubectl -n ${namespace} edit service ${name}`;
  return finding('caller', 'bad', text, {
    details: [...details, line],
    data,
    summary: line,
    next: { text: 'add the range of the caller to spec.loadBalancerSourceRanges', command },
  });
}

function mayPass({ caller }: DetectedCaller, { sourceRanges, includesNode }: Firewall): boolean {
  return caller.place === 'node' ? includesNode : sourceRanges.some(range => cidrContains(range, caller.ip));
}

export function callerName({ caller, pod, ip, isAssumed }: DetectedCaller): string {
  const at = ip === undefined ? '' : ` ${ip}`;
  switch (caller.place) {
    case 'pod':
      return pod === undefined ? `${isAssumed ? 'any pod' : 'a pod'}${at && ` at${at}`}` : `pod ${pod} at${at}`;
    case 'node':
      return `the node itself${at && ` at${at}`}`;
    case 'outside':
      return ip === undefined ? 'outside of the cluster' : `${ip} outside of the cluster`;
  }
}

function policyLines(frontend: Frontend, { caller }: DetectedCaller): readonly string[] {
  if (frontend.policy !== 'Local') return [];
  const field = frontend.kind === 'ClusterIP' ? 'internalTrafficPolicy' : 'externalTrafficPolicy';
  const isShort =
    (frontend.shortCircuit === 'pods-and-node' && caller.place !== 'outside') ||
    (frontend.shortCircuit === 'node' && caller.place === 'node');
  return isShort
    ? [`${field} is Local, but pods and the node itself reach all endpoints.`]
    : [`${field} is Local: only endpoints on this node serve this caller.`];
}

/** Connections of a pod go through the proxy of the pod's own node. Only a call to a node port leaves that node first. */
function otherNodeFinding(
  node: string,
  { text, details, data }: Omit<CallerTexts, 'service'>,
  { origin, nodeName }: Facts,
): Finding {
  const line = `The caller runs on node ${node}, whose own proxy handles its connections, and not that of ${nodeName}.`;
  const command = `kubectl -n kube-system get pods -o wide --field-selector spec.nodeName=${node}`;
  const next =
    origin === 'proxy'
      ? { text: `ask the proxy of node ${node}, in its pod`, command }
      : { text: `repeat the command with --node ${node}` };
  return finding('caller', 'unknown', text, { details: [line, ...details], data, summary: line, next, isBlind: true });
}

/** The caller that the operator named is not known. */
export function unknownCallerStep({ reason, command }: UnknownCaller): Finding {
  const next =
    command === undefined ? undefined : { text: 'look up the address of the pod, and give it as --from IP', command };
  return finding('caller', 'unknown', reason, { ...(next ? { next } : {}) });
}
