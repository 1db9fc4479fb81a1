import { compareTexts } from '../../lib/compare-texts.ts';
import type { Endpoint } from '../../model/index.ts';
import { cidrContains, formatCidr, isUnspecified, joinHostPort } from '../../net/index.ts';
import {
  type Firewall,
  type Frontend,
  type PlannedFrontend,
  planName,
  type ServicePortPlan,
  slotShares,
} from '../../plan/index.ts';
import type { Caller } from '../caller.ts';
import type { AnsweringEndpoint, Outcome, ReasonCode, Remark } from '../outcome.ts';
import { wayToChoose } from './choice.ts';
import { isBehindNode } from './local-caller.ts';
import { isNodeIP, type OutcomeContext, type Question } from './question.ts';
import { type SeenSource, seenSource } from './seen-as.ts';
import { type ServedBy, servedBy } from './served-by.ts';

/** What a connection to a frontend gets. A node port counts as accepted at the destination's address. */
export function frontendOutcome(target: PlannedFrontend, question: Question, context: OutcomeContext): Outcome {
  const { plan, frontend } = target;
  const { caller } = question;
  const { protocol } = plan.port;
  if (context.mode.behaviour.lacksProtocols.includes(protocol)) {
    return elsewhere(question, context, 'protocol', `this mode cannot serve ${protocol}`);
  }
  const served = servedBy(plan, frontend, caller, context);
  if (isExcluded(frontend, question, served, context)) return { kind: 'silent', ...excludedReason(frontend, caller) };
  switch (served.kind) {
    case 'reject':
      return rejected(target, question, context);
    case 'drop':
      return { kind: 'silent', code: 'no-local-endpoints', reason: noLocalEndpoints(plan, frontend) };
    case 'endpoints':
      return answered(target, served, question, context);
  }
}

function isExcluded(frontend: Frontend, question: Question, served: ServedBy, context: OutcomeContext): boolean {
  const { firewall } = frontend;
  if (!firewall || mayPass(firewall, question, context)) return false;
  if (served.kind !== 'reject') return true;
  const { guardsWithoutEndpoints: guarded } = context.mode.behaviour;
  return guarded === 'all' || (guarded === 'all-but-node' && question.caller.place !== 'node');
}

function mayPass(
  { sourceRanges, includesNode }: Firewall,
  { caller: { place, ip }, destination }: Question,
  context: OutcomeContext,
): boolean {
  const hasServiceIP = context.mode.behaviour.ownSource === 'destination' || isNodeIP(context, destination.ip);
  // The node connects from the address of the load balancer if it has that address itself. Rules allow for that.
  if (place === 'node' && hasServiceIP) return includesNode;
  return sourceRanges.some(range => cidrContains(range, ip));
}

function excludedReason(
  { firewall }: Frontend,
  { place, ip }: Caller,
): { readonly code: ReasonCode; readonly reason: string } {
  const ranges = firewall?.sourceRanges.map(formatCidr).join(', ');
  const source = place === 'node' ? `the node (${ip})` : ip;
  return { code: 'source-ranges', reason: `loadBalancerSourceRanges (${ranges}) does not contain ${source}` };
}

function rejected({ plan, frontend }: PlannedFrontend, question: Question, context: OutcomeContext): Outcome {
  const reason = `no endpoint of ${planName(plan)} can serve`;
  const { caller, destination } = question;
  const isExternal = frontend.kind === 'ExternalIP' || frontend.kind === 'LoadBalancerIP';
  const leavesNode = isExternal && caller.place === 'node' && !isNodeIP(context, destination.ip);
  if (leavesNode && !context.mode.behaviour.rejectsNodeAtExternalIPs) {
    const why = `${reason}, and the rules that reject do not see connections of the node itself`;
    return elsewhere(question, context, 'not-rejected-from-node', why);
  }
  return { kind: 'refused', code: 'no-endpoints', reason };
}

function noLocalEndpoints(plan: ServicePortPlan, { kind }: Frontend): string {
  const field = kind === 'ClusterIP' ? 'internalTrafficPolicy' : 'externalTrafficPolicy';
  return `${field} is Local, and no endpoint of ${planName(plan)} that can serve is on this node`;
}

/** The packet goes on as if there were no proxy. */
export function elsewhere(
  { destination: { ip, port } }: Question,
  context: OutcomeContext,
  code: ReasonCode,
  why: string,
): Outcome {
  if (isNodeIP(context, ip)) {
    const end = `A program of the node answers if it listens at ${joinHostPort(ip, port)}. Otherwise the kernel refuses`;
    return { kind: 'elsewhere', at: 'node', code, reason: `${why}. ${end}` };
  }
  return { kind: 'elsewhere', at: 'network', code, reason: `${why}. The packet follows the node's routes to ${ip}` };
}

interface Reached {
  readonly endpoint: Endpoint;
  readonly source: SeenSource;
}

function answered(
  { plan, frontend }: PlannedFrontend,
  { slots, remarks }: Extract<ServedBy, { kind: 'endpoints' }>,
  question: Question,
  context: OutcomeContext,
): Outcome {
  const way = wayToChoose(context.mode.behaviour.choice, plan);
  const endpoints = distinct(slots);
  const reached = endpoints.map(endpoint => ({ endpoint, source: seenSource(frontend, endpoint, question, context) }));
  const isLost = ({ endpoint, source }: Reached) =>
    source.seenAs === 'itself' && !endpoint.isLocal && !isBehindNode(question.caller);
  const lost = reached.filter(isLost).map(({ endpoint }) => endpoint.text);
  const bypass = bypassRemarks(lost, question.caller);
  const [first] = bypass;
  if (first && lost.length === reached.length) {
    const why = [...remarks, first].map(({ text }) => text).join('; ');
    return { kind: 'silent', code: 'answers-bypass-node', reason: why };
  }
  const shares = way.followsSlots || reached.length === 1 ? slotShares(slots) : undefined;
  return {
    kind: 'answered',
    endpoints: reached.filter(each => !isLost(each)).map(each => answering(each, shares?.get(each.endpoint.text))),
    lost,
    isSticky: way.isSticky,
    choice: way.choice,
    remarks: [...remarks, ...way.remarks, ...sourceRemarks(reached), ...bypass],
  };
}

function answering({ endpoint: { text }, source }: Reached, odds: number | undefined): AnsweringEndpoint {
  return { text, seenAs: source.seenAs, sourceIP: source.ip, odds };
}

/** Without a balance the slots are the endpoints. */
function distinct(slots: readonly Endpoint[]): readonly Endpoint[] {
  const endpoints = new Set(slots);
  if (endpoints.size === slots.length) return slots;
  return [...endpoints].sort((a, b) => compareTexts(a.text, b.text));
}

/** Each remark once, in the order of the endpoints. */
function sourceRemarks(reached: readonly Reached[]): readonly Remark[] {
  return [...new Map(reached.map(({ source: { remark } }) => [remark.text, remark])).values()];
}

function bypassRemarks(lost: readonly string[], { ip }: Caller): readonly Remark[] {
  if (lost.length === 0) return [];
  // Of a caller that is only somewhere outside, the address is not known.
  const caller = isUnspecified(ip) ? 'the caller' : ip;
  const text = `${lost.join(', ')} would answer ${caller} directly and not through this node, so the answers are lost`;
  return [{ code: 'answers-bypass-node', text }];
}
