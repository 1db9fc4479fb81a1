import type { Family } from '../net/index.ts';
import type { Frontend, ServicePortPlan } from '../plan/index.ts';
import type { Place } from './caller.ts';
import { assumedCallers } from './caller-detection.ts';
import { connectionOutcome } from './connection-outcome.ts';
import type { Facts } from './facts.ts';
import type { Outcome } from './outcome.ts';

/**
 * What a connection to a frontend gets, by the place of its caller. Nothing more is known about the callers, so that
 * ranges of allowed callers do not count.
 */
export function placeOutcomes(
  { port: { protocol } }: ServicePortPlan,
  frontend: Frontend,
  family: Family,
  facts: Facts,
): Readonly<Record<Place, Outcome>> {
  const ip = frontend.ip ?? nodePortIP(family, facts);
  const destination = { ip, port: frontend.port, protocol, family };
  const callers = assumedCallers(family, facts);
  return {
    pod: connectionOutcome(destination, callers.pod, facts),
    node: connectionOutcome(destination, callers.node, facts),
    outside: connectionOutcome(destination, callers.outside, facts),
  };
}

/** An address of the node that accepts node ports, if there is one. */
function nodePortIP(family: Family, facts: Facts) {
  const { nodePortAddresses, nodePortIPs } = facts.settings(family);
  const own = facts.state.nodeOptions.nodeIPs[family];
  return nodePortAddresses.matchAll || nodePortIPs.includes(own) ? own : (nodePortIPs[0] ?? own);
}
