import type { Endpoint } from '../model/index.ts';
import { cidrContains } from '../net/index.ts';
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

/** How the plan says that a frontend answers a caller. */
export function expectationOf(plan: ServicePortPlan, frontend: Frontend, caller: Caller): Expectation {
  if (!mayPass(frontend, caller)) return { kind: 'silent' };
  const chosen = isShortCircuited(frontend, caller) ? plan.endpoints.cluster : endpointsFor(plan, frontend);
  if (typeof chosen === 'string') return { kind: chosen };
  const endpoints = new Map(chosen.map(endpoint => [endpoint.text, seenAs(frontend, caller, endpoint)]));
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

function seenAs({ masquerade }: Frontend, { place, ip }: Caller, endpoint: Endpoint): SeenAs {
  // An endpoint that reaches itself must not see its own address: its answer would not come back through the node.
  const isHairpin = endpoint.ip === ip;
  return place === 'node' || isHairpin || isMasqueraded(masquerade, place) ? 'node' : 'itself';
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
