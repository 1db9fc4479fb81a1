import type { Family } from '../net/index.ts';
import type { PlannedFrontend } from '../plan/index.ts';
import type { DetectedCaller } from './caller-detection.ts';
import type { Facts } from './facts.ts';
import { nodeIPsOf } from './node-addresses.ts';
import { type Destination, type FrontendIndex, outcomeOf } from './outcome/index.ts';
import type { Outcome } from './outcome.ts';

/** What a new connection of the caller gets. */
export function connectionOutcome(
  { ip, port, protocol, family }: Destination & { readonly family: Family },
  { caller, ip: callerIP }: DetectedCaller,
  facts: Facts,
): Outcome {
  const { planner } = facts.state.family(family);
  return outcomeOf({
    mode: facts.mode,
    settings: facts.settings(family),
    nodeIPs: nodeIPsOf(facts),
    caller,
    destination: { ip, port, protocol },
    frontends: callerIP === undefined ? withoutFirewalls(planner) : planner,
    services: () => facts.objects.services(),
  });
}

/** Source ranges say nothing about a caller without an address. */
function withoutFirewalls(frontends: FrontendIndex): FrontendIndex {
  const opened = ({ plan, frontend }: PlannedFrontend): PlannedFrontend => ({
    plan,
    frontend: frontend.firewall ? { ...frontend, firewall: undefined } : frontend,
  });
  return {
    frontendAt: (...address) => {
      const found = frontends.frontendAt(...address);
      return found && opened(found);
    },
    lostFrontendsAt: (...address) => frontends.lostFrontendsAt(...address).map(opened),
    frontendsWithIP: ip => frontends.frontendsWithIP(ip),
  };
}
