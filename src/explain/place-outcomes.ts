import type { Breaks } from '../lib/breaks.ts';
import { type Family, formatCidr, type Ip } from '../net/index.ts';
import type { Frontend, ServicePortPlan } from '../plan/index.ts';
import type { Place } from './caller.ts';
import { assumedCallers, type DetectedCaller } from './caller-detection.ts';
import { connectionOutcome } from './connection-outcome.ts';
import type { Facts } from './facts.ts';
import type { Outcome } from './outcome.ts';

/**
 * What a connection to a frontend gets, by the place of its caller. Nothing more is known about the callers, so that
 * ranges of allowed callers do not count, unless they contain no pod of this node. With thousands of endpoints each
 * outcome takes long, so there are breaks.
 */
export async function placeOutcomes(
  { port: { protocol } }: ServicePortPlan,
  frontend: Frontend,
  family: Family,
  facts: Facts,
  breaks: Breaks,
): Promise<Readonly<Record<Place, Outcome>>> {
  const ip = askedIP(frontend, family, facts);
  const destination = { ip, port: frontend.port, protocol, family };
  const { pod, node, outside } = assumedCallers(family, facts);
  const outcome = async (caller: DetectedCaller) => {
    if (breaks.isDue) await breaks.take();
    return withoutStandIn(connectionOutcome(destination, caller, facts), caller);
  };
  return { pod: await outcome(pod), node: await outcome(node), outside: await outcome(outside) };
}

/** The address that the outcomes of a frontend are about. */
export function askedIP({ ip }: Frontend, family: Family, facts: Facts): Ip {
  return ip ?? nodePortIP(family, facts);
}

/** The address of a caller without one is not real, so it is not shown. */
function withoutStandIn(outcome: Outcome, { ip, range, caller }: DetectedCaller): Outcome {
  if (ip !== undefined) return outcome;
  if (outcome.kind !== 'answered') {
    return range ? { ...outcome, reason: named(outcome.reason, caller.ip, `pods (${formatCidr(range)})`) } : outcome;
  }
  return {
    ...outcome,
    endpoints: outcome.endpoints.map(each => (each.sourceIP === caller.ip ? { ...each, sourceIP: undefined } : each)),
    remarks: outcome.remarks.map(({ code, text }) => ({ code, text: named(text, caller.ip, 'the caller') })),
  };
}

/** A range, such as `10.244.0.0/16`, keeps its address. */
function named(text: string, ip: Ip, name: string): string {
  return text.replaceAll(/[\w.:/]+/g, word => (word === ip ? name : word));
}

/** An address of the node that accepts node ports, if there is one. */
function nodePortIP(family: Family, facts: Facts): Ip {
  const { nodePortAddresses, nodePortIPs } = facts.settings(family);
  const own = facts.state.nodeOptions.nodeIPs[family];
  return nodePortAddresses.matchAll || nodePortIPs.includes(own) ? own : (nodePortIPs[0] ?? own);
}
