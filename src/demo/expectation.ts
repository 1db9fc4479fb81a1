import type { Endpoint } from '../model/index.ts';
import { cidrContains } from '../net/index.ts';
import type { Frontend, ServicePortPlan } from '../plan/index.ts';
import type { Caller } from './caller.ts';

/** As whom an endpoint sees its caller. */
export type SeenAs = 'itself' | 'node';

/** What a connection should get. */
export type Expectation =
  | {
      readonly kind: 'answered';
      /** Who may answer, by `ip:port`, and as whom each sees the caller. */
      readonly by: ReadonlyMap<string, SeenAs>;
      /** The same endpoint every time, whichever it is. */
      readonly sticky: boolean;
    }
  | { readonly kind: 'refused' }
  | { readonly kind: 'silent' };

/** What the plan says a caller gets at a frontend. */
export function expectationOf(plan: ServicePortPlan, frontend: Frontend, caller: Caller): Expectation {
  if (!mayPass(frontend, caller)) return { kind: 'silent' };
  const endpoints = isShortCircuited(frontend, caller) ? plan.endpoints.cluster : endpointsFor(plan, frontend);
  if (typeof endpoints === 'string') return { kind: endpoints };
  const by = new Map(endpoints.map(endpoint => [endpoint.text, seenAs(frontend, caller, endpoint)]));
  return { kind: 'answered', by, sticky: plan.port.affinitySeconds > 0 };
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
  // An endpoint that meets itself must not see its own address, or its answer would not come back through the node.
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
