import type { Service } from '../api/index.ts';
import { cidrsOverlap, type Family, familyOf, type Ip, parseIp } from '../net/index.ts';
import type { Firewall, PlannedFrontend } from '../plan/index.ts';
import type { DetectedCaller } from './caller-detection.ts';
import { behaviourNow, type Facts } from './facts.ts';
import { nodeIPsOf } from './node-addresses.ts';
import { type Destination, type FrontendIndex, type OutcomeInput, outcomeOf } from './outcome/index.ts';
import type { Outcome } from './outcome.ts';
import { scan } from './scan.ts';

/** What has an address without a frontend at the port. A search through all objects finds it, with breaks. */
export interface AddressUse {
  /** The frontends at the address, with other ports. */
  readonly frontends: readonly PlannedFrontend[];
  /** The Services that name the address as an external IP or as that of a load balancer. */
  readonly services: readonly Service[];
}

const NO_USE: AddressUse = { frontends: [], services: [] };

export async function findAddressUse(ip: Ip, { state, objects }: Facts): Promise<AddressUse> {
  const frontends: PlannedFrontend[] = [];
  await scan(state.family(familyOf(ip)).planner.plans(), plan => {
    for (const frontend of plan.frontends) if (frontend.ip === ip) frontends.push({ plan, frontend });
    return false;
  });
  const services: Service[] = [];
  if (frontends.length > 0) return { frontends, services };
  await scan(objects.services(), service => {
    const { externalIPs } = service.spec;
    const { ingress } = service.status.loadBalancer;
    if (externalIPs.length === 0 && ingress.length === 0) return false;
    const isNamed = externalIPs.some(text => parseIp(text) === ip) || ingress.some(each => parseIp(each.ip) === ip);
    if (isNamed) services.push(service);
    return false;
  });
  return { frontends, services };
}

type FamilyDestination = Destination & { readonly family: Family };

/** What a new connection of the caller gets. `found` is for an address that no frontend matches. */
export function connectionOutcome(
  destination: FamilyDestination,
  detected: DetectedCaller,
  facts: Facts,
  found: AddressUse = NO_USE,
): Outcome {
  const input = outcomeInput(destination, detected, facts, found);
  return outcomeOf({ ...input, mode: { behaviour: behaviourNow(facts.mode.behaviour, facts.condition) } });
}

/** What the outcome of a connection depends on, if every part of the mode serves. */
export function outcomeInput(
  { ip, port, protocol, family }: FamilyDestination,
  detected: DetectedCaller,
  facts: Facts,
  found: AddressUse = NO_USE,
): OutcomeInput {
  const { planner } = facts.state.family(family);
  const { caller, ip: callerIP } = detected;
  return {
    mode: facts.mode,
    settings: facts.settings(family),
    nodeIPs: nodeIPsOf(facts),
    caller,
    destination: { ip, port, protocol },
    frontends: {
      ...(callerIP === undefined ? withoutFirewalls(planner, detected) : matches(planner)),
      frontendsWithIP: () => found.frontends,
    },
    services: () => found.services,
  };
}

type Matches = Omit<FrontendIndex, 'frontendsWithIP'>;

/** Source ranges say nothing about a caller without an address, unless they allow none that it can have. */
function withoutFirewalls(frontends: FrontendIndex, caller: DetectedCaller): Matches {
  const opened = ({ plan, frontend }: PlannedFrontend): PlannedFrontend => ({
    plan,
    frontend:
      frontend.firewall && !excludesEvery(frontend.firewall, caller) ? { ...frontend, firewall: undefined } : frontend,
  });
  return {
    frontendAt: (...address) => {
      const found = frontends.frontendAt(...address);
      return found && opened(found);
    },
    lostFrontendsAt: (...address) => frontends.lostFrontendsAt(...address).map(opened),
  };
}

/** Whether source ranges allow no address that a caller without a known one can have. */
export function excludesEvery({ sourceRanges }: Firewall, { range }: DetectedCaller): boolean {
  return range !== undefined && !sourceRanges.some(allowed => cidrsOverlap(allowed, range));
}

function matches(frontends: FrontendIndex): Matches {
  return {
    frontendAt: (...address) => frontends.frontendAt(...address),
    lostFrontendsAt: (...address) => frontends.lostFrontendsAt(...address),
  };
}
