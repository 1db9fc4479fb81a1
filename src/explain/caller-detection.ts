import { objectKey, objectName } from '../api/index.ts';
import {
  ANY_IP,
  type Cidr,
  cidrContains,
  cidrFamily,
  type Family,
  familyOf,
  formatCidr,
  type Ip,
  isLoopback,
  parseCidr,
} from '../net/index.ts';
import type { Frontend } from '../plan/index.ts';
import type { Caller, Place } from './caller.ts';
import type { Facts } from './facts.ts';
import { nodeIPsOf } from './node-addresses.ts';
import { type EndpointPlace, findEndpoints, findPod, podKey } from './pods.ts';
import type { From } from './question.ts';

/** A caller, and how its place was detected. */
export interface DetectedCaller {
  readonly kind: 'caller';
  readonly caller: Caller;
  /** Undefined if the operator named no address. `caller.ip` is then an address that stands for any. */
  readonly ip: Ip | undefined;
  /** The addresses of a pod that the operator did not name, if they are known. */
  readonly range?: Cidr | undefined;
  readonly how: string;
  /** `ns/name` */
  readonly pod?: string | undefined;
  /** The node on which the pod runs, if that is another one. */
  readonly otherNode?: string | undefined;
  /** The operator named no caller. */
  readonly isAssumed: boolean;
}

/** The caller that the operator named cannot be found. */
export interface UnknownCaller {
  readonly kind: 'unknown';
  readonly reason: string;
  readonly command?: string;
}

/** The address that is called, and its kind of frontend. They decide which caller is the default. */
export interface CalledAddress {
  readonly ip: Ip;
  readonly kind?: Frontend['kind'];
}

/** A caller of each place, if nothing more is known about it. */
export function assumedCallers(family: Family, facts: Facts): Readonly<Record<Place, DetectedCaller>> {
  return { pod: anyPod(family, facts, true), node: nodeItself(family, facts), outside: anyOutside(family, true) };
}

export async function detectCaller(
  from: From,
  family: Family,
  called: CalledAddress,
  facts: Facts,
): Promise<DetectedCaller | UnknownCaller> {
  const detected = await detect(from, family, called, facts);
  if (detected.kind === 'unknown' || called.kind === 'NodePort') return detected;
  // The proxy of its own node handles all other connections of a pod. This node can only say what it would do itself.
  const { place, ip } = detected.caller;
  return { ...detected, caller: { place, ip } };
}

async function detect(
  from: From,
  family: Family,
  called: CalledAddress,
  facts: Facts,
): Promise<DetectedCaller | UnknownCaller> {
  switch (from.kind) {
    case 'default':
      return assumedCaller(family, called, facts);
    case 'any-pod':
      return anyPod(family, facts, false);
    case 'outside':
      return anyOutside(family, false);
    case 'node':
      return nodeItself(family, facts);
    case 'pod':
      return await namedPod(objectKey(from), family, facts);
    case 'address':
      return await byAddress(from.ip, family, facts);
  }
}

function assumedCaller(family: Family, { ip, kind }: CalledAddress, facts: Facts): DetectedCaller {
  if (isLoopback(ip)) {
    const how = 'assumed to be the node itself, because only it reaches its loopback addresses';
    return { ...nodeItself(family, facts), ip: undefined, how, isAssumed: true };
  }
  return kind === undefined || kind === 'ClusterIP' ? anyPod(family, facts, true) : anyOutside(family, true);
}

function anyPod(family: Family, facts: Facts, isAssumed: boolean): DetectedCaller {
  const range = rangeOfPods(family, facts);
  const ip = range?.address ?? ANY_IP[family];
  const how = isAssumed
    ? 'assumed to be a pod of this node; --from names another caller'
    : 'any pod of this node, as --from says';
  return { kind: 'caller', caller: { place: 'pod', ip }, ip: undefined, range, how, isAssumed };
}

/** The range by which rules recognise pods, or the pod CIDR of this node. */
function rangeOfPods(family: Family, facts: Facts): Cidr | undefined {
  const { localDetector } = facts.settings(family);
  if (localDetector?.kind === 'source-cidr') return localDetector.cidr;
  const own = (facts.state.ownNode?.podCIDRs ?? []).map(text => parseCidr(text));
  return own.find(cidr => cidr !== undefined && cidrFamily(cidr) === family);
}

function anyOutside(family: Family, isAssumed: boolean): DetectedCaller {
  const how = isAssumed
    ? 'assumed to be outside of the cluster; --from names another caller'
    : 'outside, as --from says';
  return { kind: 'caller', caller: { place: 'outside', ip: ANY_IP[family] }, ip: undefined, how, isAssumed };
}

function nodeItself(family: Family, { state, nodeName }: Facts): DetectedCaller {
  const ip = state.nodeOptions.nodeIPs[family];
  return {
    kind: 'caller',
    caller: { place: 'node', ip },
    ip,
    how: `the address of node ${nodeName}`,
    isAssumed: false,
  };
}

async function namedPod(pod: string, family: Family, facts: Facts): Promise<DetectedCaller | UnknownCaller> {
  const found = await findPod(facts.objects, pod);
  const [namespace = '', name = ''] = pod.split('/');
  const command = `kubectl -n ${namespace} get pod ${name} -o jsonpath='{.status.podIPs}'`;
  if (!found) {
    const reason = `No EndpointSlice names pod ${pod}, and a proxy does not watch pods: give the pod's address instead.`;
    return { kind: 'unknown', reason, command };
  }
  const ip = found.ips.find(other => familyOf(other) === family);
  if (ip === undefined) {
    const reason = `EndpointSlice ${found.slice} names pod ${pod}, but no ${family} address of it: give the address instead.`;
    return { kind: 'unknown', reason, command };
  }
  return podAt(ip, found, facts);
}

async function byAddress(ip: Ip, family: Family, facts: Facts): Promise<DetectedCaller | UnknownCaller> {
  if (familyOf(ip) !== family) {
    const reason = `The caller ${ip} is ${familyOf(ip)} and the destination is ${family}: no connection is possible.`;
    return { kind: 'unknown', reason };
  }
  const found = (place: Caller['place'], how: string): DetectedCaller => ({
    kind: 'caller',
    caller: { place, ip },
    ip,
    how,
    isAssumed: false,
  });
  if (isLoopback(ip) || nodeIPsOf(facts).includes(ip)) return found('node', 'an address of this node');
  const [endpoint] = await findEndpoints(facts.objects, ip, 1);
  if (endpoint) return podAt(ip, endpoint, facts);
  const range = podRange(ip, family, facts);
  if (range !== undefined) return found('pod', `in ${range}, so it is a pod`);
  const detector = facts.settings(family).localDetector;
  if (detector?.kind === 'source-cidr') {
    return found(
      'outside',
      `outside: neither an address of this node nor in ${rangeName(formatCidr(detector.cidr), facts)}`,
    );
  }
  return found('outside', 'outside: neither an address of this node nor of a known pod');
}

/** A pod that is an endpoint. A pod with an address of the node counts as the node. */
function podAt(ip: Ip, { targetRef, node, slice }: Omit<EndpointPlace, 'zone'>, facts: Facts): DetectedCaller {
  const otherNode = node !== undefined && node !== '' && node !== facts.nodeName ? node : undefined;
  const isOnNode = nodeIPsOf(facts).includes(ip);
  const pod = targetRef && podKey(targetRef, objectName(slice).namespace);
  const named = `${pod === undefined ? 'an endpoint' : `pod ${pod}`} in EndpointSlice ${slice}`;
  return {
    kind: 'caller',
    caller: {
      place: isOnNode ? 'node' : 'pod',
      ip,
      ...(otherNode === undefined ? {} : { isOnOtherNode: true }),
    },
    ip,
    how: isOnNode ? `${named}, with an address of this node` : named,
    pod,
    otherNode,
    isAssumed: false,
  };
}

/** The range of pods that contains the address, in words. */
function podRange(ip: Ip, family: Family, facts: Facts): string | undefined {
  const { localDetector } = facts.settings(family);
  if (localDetector?.kind === 'source-cidr' && cidrContains(localDetector.cidr, ip)) {
    return rangeName(formatCidr(localDetector.cidr), facts);
  }
  const own = (facts.state.ownNode?.podCIDRs ?? []).find(text => {
    const cidr = parseCidr(text);
    return cidr !== undefined && cidrContains(cidr, ip);
  });
  return own === undefined ? undefined : `the pod CIDR ${own} of this node`;
}

function rangeName(cidr: string, { state }: Facts): string {
  const isOwn = (state.ownNode?.podCIDRs ?? []).includes(cidr);
  return isOwn ? `the pod CIDR ${cidr} of this node` : `the cluster CIDR ${cidr}`;
}
