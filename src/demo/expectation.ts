import type { Endpoint } from '../model/index.ts';
import type { PlanDeviation } from '../modes/index.ts';
import { cidrContains, type Ip } from '../net/index.ts';
import type { Frontend, ServicePortPlan } from '../plan/index.ts';
import type { Caller } from './caller.ts';

/** Which address an endpoint sees as its caller: the caller's own address, or the node's. */
export type SeenAs = 'itself' | 'node';

/** How connections should be answered. */
export type Expectation =
  | {
      readonly kind: 'answered';
      /** The endpoints that may answer, by `ip:port`, and how each sees the caller. */
      readonly endpoints: ReadonlyMap<string, SeenAs>;
      /** Whether the same endpoint answers every time. Any of them may be that endpoint. */
      readonly isSticky: boolean;
    }
  | { readonly kind: 'refused' }
  | { readonly kind: 'silent' };

/** What matters beside the plan: how the mode differs from it, and the node's own addresses. */
export interface Circumstances extends PlanDeviation {
  readonly nodeIPs?: readonly Ip[];
}

/** How a frontend should answer a caller, by the plan. */
export function expectationOf(
  plan: ServicePortPlan,
  frontend: Frontend,
  caller: Caller,
  circumstances: Circumstances = {},
): Expectation {
  const { lacksShortCircuit = false } = circumstances;
  if (!mayPass(frontend, caller)) return { kind: 'silent' };
  const isShort = isShortCircuited(frontend, caller) && !(lacksShortCircuit && plan.endpoints.local.length > 0);
  const chosen = isShort ? plan.endpoints.cluster : endpointsFor(plan, frontend);
  if (typeof chosen === 'string') return { kind: chosen };
  const endpoints = new Map(chosen.map(endpoint => [endpoint.text, seenAs(frontend, caller, endpoint, circumstances)]));
  return { kind: 'answered', endpoints, isSticky: plan.port.affinitySeconds > 0 };
}

function mayPass({ firewall }: Frontend, { place, ip }: Caller): boolean {
  if (!firewall) return true;
  return place === 'node' ? firewall.includesNode : firewall.sourceRanges.some(range => cidrContains(range, ip));
}

function isShortCircuited({ shortCircuit }: Frontend, { place }: Caller): boolean {
  switch (shortCircuit) {
    case 'none':
      return false;
    case 'node':
      return place === 'node';
    case 'pods-and-node':
      return place !== 'outside';
  }
}

function endpointsFor(
  { endpoints }: ServicePortPlan,
  { action, policy }: Frontend,
): readonly Endpoint[] | 'refused' | 'silent' {
  switch (action) {
    case 'reject':
      return 'refused';
    case 'drop':
      return 'silent';
    case 'forward':
      return policy === 'Local' ? endpoints.local : endpoints.cluster;
  }
}

function seenAs(
  { masquerade }: Frontend,
  { place, ip }: Caller,
  endpoint: Endpoint,
  { isRelay = false, nodeIPs = [] }: Circumstances,
): SeenAs {
  if (place === 'node' || isRelay) return 'node';
  // The kernel masquerades packets that leave the node. These packets stay.
  if (nodeIPs.includes(endpoint.ip)) return 'itself';
  // An endpoint that reaches itself must not see its own address: its answer would not come back through the node.
  const isHairpin = endpoint.ip === ip;
  return isHairpin || isMasqueraded(masquerade, place) ? 'node' : 'itself';
}

function isMasqueraded(masquerade: Frontend['masquerade'], place: Caller['place']): boolean {
  switch (masquerade) {
    case 'always':
      return true;
    case 'never':
      return false;
    case 'from-node':
      return place === 'node';
    case 'from-outside':
      return place !== 'pod';
  }
}
