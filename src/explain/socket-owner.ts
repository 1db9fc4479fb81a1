import type { ConnectedSocket } from '../modes/index.ts';
import { familyOf, joinHostPort } from '../net/index.ts';
import { endpointsOf, type PlannedFrontend, type ServicePortPlan } from '../plan/index.ts';
import type { Facts } from './facts.ts';
import { nodeIPsOf } from './node-addresses.ts';
import { matchFrontend } from './outcome/index.ts';

/** Returns a function that finds the frontend whose address a socket asked for. Undefined if no Service has it any more. */
export function socketOwners(facts: Facts): (socket: ConnectedSocket) => PlannedFrontend | undefined {
  const nodeIPs = nodeIPsOf(facts);
  const known = new Map<string, PlannedFrontend | undefined>();
  return ({ service: { ip, port } }) => {
    const address = joinHostPort(ip, port);
    if (known.has(address)) return known.get(address);
    const { planner } = facts.state.family(familyOf(ip));
    const found = matchFrontend(planner, { ip, port, protocol: 'TCP' }, { nodeIPs });
    known.set(address, found);
    return found;
  };
}

/**
 * used: new connections go there. unused: the Service has the endpoint, and new connections do not go there. gone: no
 * EndpointSlice has it any more.
 */
export type EndpointUse = 'used' | 'unused' | 'gone';

/** Returns a function that says what a plan does with an endpoint, which is `ip:port`. */
export function endpointUses(facts: Facts): (plan: ServicePortPlan, endpoint: string) => EndpointUse {
  const known = new Map<ServicePortPlan, ReadonlyMap<string, EndpointUse>>();
  return (plan, endpoint) => {
    const uses = known.get(plan) ?? usesOf(plan, facts);
    known.set(plan, uses);
    return uses.get(endpoint) ?? 'gone';
  };
}

function usesOf(plan: ServicePortPlan, { state }: Facts): ReadonlyMap<string, EndpointUse> {
  const { service, port, endpoints } = plan;
  const found = state.family(familyOf(port.clusterIP)).model.service(service);
  const all = found ? endpointsOf(found, port) : [];
  const used = [...endpoints.cluster, ...endpoints.local];
  return new Map([
    ...all.map(({ text }) => [text, 'unused'] as const),
    ...used.map(({ text }) => [text, 'used'] as const),
  ]);
}
