import { compareTexts } from '../../lib/compare-texts.ts';
import type { Endpoint } from '../../model/index.ts';
import type { SocketBehaviour, SocketDecision, SocketNode } from '../../modes/index.ts';
import { isLoopback } from '../../net/index.ts';
import { type PlannedFrontend, planName, slotShares, slotsOf } from '../../plan/index.ts';
import type { Caller } from '../caller.ts';
import type { AnsweringEndpoint, Choice, Outcome, Remark } from '../outcome.ts';
import { balanceRemarks } from './choice.ts';
import { endpointRemarks } from './endpoint-remarks.ts';
import { matchFrontend } from './match-frontend.ts';
import type { OutcomeInput } from './question.ts';
import { nodeSource } from './seen-as.ts';

/** What the socket of a caller does with a connection, before it has any packet. */
export type AtSocket =
  /** The outcome is final. */
  | { readonly kind: 'decided'; readonly outcome: Outcome }
  /** Packets meet the rules. The reason is a part of a sentence. */
  | { readonly kind: 'left'; readonly reason: string };

/** Undefined if the mode serves no sockets. */
export function atSocket(input: OutcomeInput): AtSocket | undefined {
  const { caller, destination, mode } = input;
  const { atSockets } = mode.behaviour;
  if (!atSockets) return undefined;
  const { protocol } = destination;
  if (protocol !== 'TCP') return left(`sockets serve TCP only, and this is ${protocol}`);
  const foreign = foreignReason(caller, atSockets);
  if (foreign !== undefined) return left(foreign);
  const target = matchFrontend(input.frontends, destination, input);
  if (!target) return left('no Service has this address and port');
  const node: SocketNode = { ...input.settings, nodeIPs: input.nodeIPs };
  if (target.frontend.kind === 'NodePort' && !acceptsNodePorts(input, node, atSockets)) {
    return left(`sockets do not serve node ports at ${destination.ip}`);
  }
  const decision = atSockets.decide(target.plan, target.frontend, node);
  if (!decision) return left(leftReason(target, input));
  if (decision.isNodeOnly && caller.place !== 'node') return left(podReason(input));
  if (decision.to === 'refuse') return refused(target);
  const slots = slotsOf(target.plan)[decision.to];
  if (slots.length === 0) return left('there is no endpoint to choose');
  return translated(target, slots, input, decision);
}

function left(reason: string): AtSocket {
  return { kind: 'left', reason };
}

/** Why the caller's socket is none that the mode serves. */
function foreignReason({ place, isOnOtherNode = false }: Caller, { callers }: SocketBehaviour): string | undefined {
  if (place === 'outside' || isOnOtherNode) return 'the caller is not on this node, so its socket is not either';
  return place === 'pod' && callers === 'node' ? 'the mode serves only sockets of the node itself' : undefined;
}

function acceptsNodePorts({ destination: { ip }, caller }: OutcomeInput, node: SocketNode, at: SocketBehaviour) {
  return at.hasNodePorts(ip, node) && (caller.place === 'node' || !isLoopback(ip));
}

/** Why sockets leave every connection to the frontend alone. */
function leftReason({ plan, frontend: { ip, port, kind } }: PlannedFrontend, { nodeIPs }: OutcomeInput): string {
  // The frontend of the question may lack its source ranges, because the address of the caller is not known.
  const planned = plan.frontends.find(other => other.ip === ip && other.port === port);
  if (planned?.firewall) return 'rules must check loadBalancerSourceRanges';
  if (ip !== undefined && kind === 'ClusterIP' && nodeIPs.includes(ip)) return `${ip} is an address of this node`;
  if (planned?.action === 'drop') return 'no endpoint is on this node, and rules drop such packets';
  if (planned?.action === 'reject') return 'no endpoint can serve, and rules refuse the packets';
  if (plan.balance?.algorithm === 'round-robin') return 'rules take the turns of round-robin';
  if (plan.balance?.algorithm === 'consistent-hash') return 'rules hash the client for consistent-hash';
  return 'sockets cannot decide it';
}

/** Why only the sockets of the node are served. */
function podReason({ settings }: OutcomeInput): string {
  return settings.masqueradeAll
    ? 'masqueradeAll asks the node to replace the source of pods, which a socket cannot do'
    : 'rules cannot recognise pods, so a pod is served as a caller from outside';
}

function isShortCircuited({ frontend: { policy } }: PlannedFrontend, to: SocketDecision['to']): boolean {
  return policy === 'Local' && to === 'cluster';
}

function refused({ plan }: PlannedFrontend): AtSocket {
  const reason = `no endpoint of ${planName(plan)} can serve`;
  return { kind: 'decided', outcome: { kind: 'refused', at: 'socket', code: 'no-endpoints', reason } };
}

function translated(
  target: PlannedFrontend,
  slots: readonly Endpoint[],
  { caller, mode }: OutcomeInput,
  { to, comparesAll }: SocketDecision,
): AtSocket {
  const { plan } = target;
  const { port, balance } = plan;
  const endpoints = [...new Set(slots)].sort((a, b) => compareTexts(a.text, b.text));
  const isLeast = balance?.algorithm === 'least-connections';
  const choice: Choice = { kind: isLeast ? 'least-connections' : 'random' };
  const shares = isLeast && endpoints.length > 1 ? undefined : slotShares(slots);
  const isSticky = port.affinitySeconds > 0;
  const remarks: Remark[] = [
    { code: 'at-socket', text: 'the kernel replaces the address inside connect(), before any packet' },
    ...(isShortCircuited(target, to) ? [shortCircuitRemark(caller)] : []),
    ...(isSticky ? [affinityRemark(port.affinitySeconds, caller)] : []),
    ...balanceRemarks(mode.behaviour.choice, plan),
    ...(isLeast ? [comparesAll ? LEAST_OF_ALL : LEAST_OF_TWO] : []),
    ...endpointRemarks(plan),
    ...sourceRemarks(endpoints, caller),
  ];
  const answering = endpoints.map(endpoint => seenBy(endpoint, caller, shares?.get(endpoint.text)));
  return {
    kind: 'decided',
    outcome: { kind: 'answered', at: 'socket', endpoints: answering, lost: [], isSticky, choice, remarks },
  };
}

function seenBy({ text }: Endpoint, { place, ip }: Caller, odds: number | undefined): AnsweringEndpoint {
  return place === 'node'
    ? { text, seenAs: 'node', sourceIP: undefined, odds }
    : { text, seenAs: 'itself', sourceIP: ip, odds };
}

const LEAST_OF_ALL: Remark = {
  code: 'least-connections',
  text: 'the kernel takes the endpoint with fewest connections from this node, and chance decides between equal ones',
};

const LEAST_OF_TWO: Remark = {
  code: 'least-connections',
  text: 'chance picks two endpoints, and the kernel takes the one with fewer connections from this node',
};

function shortCircuitRemark({ place }: Caller): Remark {
  const name = place === 'node' ? 'the node itself' : 'a pod of this node';
  return { code: 'short-circuit', text: `the traffic policy is Local, but ${name} reaches all endpoints` };
}

function affinityRemark(seconds: number, { place }: Caller): Remark {
  const client =
    place === 'node' ? 'all processes of the node are one client' : 'all processes of a pod are one client';
  const text = `session affinity: ${client}, which keeps its endpoint for ${seconds} s after its last connection`;
  return { code: 'affinity', text };
}

function sourceRemarks(endpoints: readonly Endpoint[], { place, ip }: Caller): readonly Remark[] {
  if (place === 'node') return [nodeSource().remark];
  const itself = endpoints.find(endpoint => endpoint.ip === ip);
  const inside: Remark[] = itself
    ? [{ code: 'inside-pod', text: `${itself.text} calls itself: the connection does not leave the pod` }]
    : [];
  if (itself && endpoints.length === 1) return inside;
  const text = `the pod itself connects to the endpoint, and nothing replaces its source: endpoints see ${ip}`;
  return [...inside, { code: 'source-kept', text }];
}
