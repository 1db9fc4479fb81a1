import { cidrContains, formatCidr } from '../../net/index.ts';
import type { Firewall, Frontend } from '../../plan/index.ts';
import type { DetectedCaller, UnknownCaller } from '../caller-detection.ts';
import type { Facts } from '../facts.ts';
import { type Finding, finding } from '../finding.ts';
import type { MetFrontend } from '../target.ts';

/** The caller, how it was detected, and what policies and source ranges mean for it. */
export function callerStep(detected: DetectedCaller, met: MetFrontend | undefined, facts: Facts): Finding {
  const details = [
    ...(met ? policyLines(met.frontend, detected) : []),
    ...(detected.otherNode === undefined ? [] : [otherNodeLine(detected.otherNode, facts)]),
  ];
  const { firewall } = met?.frontend ?? {};
  const ranges = firewall?.sourceRanges.map(formatCidr);
  const data = {
    place: detected.caller.place,
    ip: detected.ip,
    how: detected.how,
    pod: detected.pod,
    sourceRanges: ranges,
  };
  const text = `The caller is ${callerName(detected)}: ${detected.how}.`;
  if (!met || !firewall)
    return finding('caller', detected.otherNode === undefined ? 'good' : 'note', text, { details, data });
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
  if (detected.ip === undefined) {
    const line = `Only callers in ${ranges} may connect (loadBalancerSourceRanges). Give --from IP to check one.`;
    return finding('caller', 'unknown', text, { details: [...details, line], data, summary: line });
  }
  if (mayPass(detected, firewall)) {
    return finding('caller', 'good', text, {
      details: [...details, `loadBalancerSourceRanges (${ranges}) allows it.`],
      data,
    });
  }
  const line = `loadBalancerSourceRanges (${ranges}) does not contain ${detected.ip}, so its packets are dropped.`;
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
      return ip === undefined ? 'outside of the cluster' : `outside, at${at}`;
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

function otherNodeLine(node: string, { origin, nodeName }: Facts): string {
  const how = origin === 'proxy' ? `the proxy of node ${node}` : `with --node ${node}`;
  return `The pod runs on node ${node}, whose own proxy handles its connections, not that of ${nodeName}: ask ${how}.`;
}

/** The caller that the operator named is not known. */
export function unknownCallerStep({ reason, command }: UnknownCaller): Finding {
  const next =
    command === undefined ? undefined : { text: 'look up the address of the pod, and give it as --from IP', command };
  return finding('caller', 'unknown', reason, { ...(next ? { next } : {}) });
}
