import { isLoopback, joinHostPort } from '../../net/index.ts';
import { planName } from '../../plan/index.ts';
import type { DetectedCaller } from '../caller-detection.ts';
import type { Facts } from '../facts.ts';
import { aligned, counted, type Finding, finding, listed } from '../finding.ts';
import { protocolSuffix } from '../near-misses/service.ts';
import type { AnsweringEndpoint, Outcome } from '../outcome.ts';
import type { MetFrontend } from '../target.ts';

const MAX_LINES = 20;

/** Where a new connection goes, with which odds, and what the endpoint sees as its caller. */
export function pathStep(
  outcome: Outcome,
  met: MetFrontend | undefined,
  detected: DetectedCaller,
  facts: Facts,
): Finding {
  if (met && outcome.kind !== 'answered' && outcome.code === 'node-port-address')
    return notAccepted(outcome, met, facts);
  switch (outcome.kind) {
    case 'refused':
      return finding('path', 'bad', `A new connection is refused at once: ${outcome.reason}.`, { data: outcome });
    case 'silent':
      return finding('path', 'bad', `A new connection gets no answer: ${outcome.reason}.`, { data: outcome });
    case 'elsewhere':
      return elsewhereStep(outcome, met !== undefined);
    case 'answered':
      return answeredStep(outcome, met, detected);
  }
}

type Elsewhere = Extract<Outcome, { kind: 'elsewhere' }>;

function elsewhereStep(outcome: Elsewhere, isOfService: boolean): Finding {
  const text = `The proxy does not handle the connection: ${outcome.reason}.`;
  return finding('path', isOfService ? 'bad' : 'unknown', text, { data: outcome });
}

/** A node port at an address of the node that does not accept node ports. */
function notAccepted(
  outcome: Exclude<Outcome, { kind: 'answered' }>,
  { ip, port, family, protocol }: MetFrontend,
  facts: Facts,
): Finding {
  const { nodePortAddresses, nodePortIPs } = facts.settings(family);
  const accepted = nodePortAddresses.matchAll ? [facts.state.nodeOptions.nodeIPs[family]] : nodePortIPs;
  const other = accepted.find(each => !isLoopback(each)) ?? accepted[0];
  const { loopbackAdvice } = facts.mode.behaviour;
  const advice = (isLoopback(ip) && loopbackAdvice) || 'add the range of this address to nodePortAddresses';
  return finding('path', 'bad', `${sentence(outcome.reason)}.`, {
    details: other === undefined ? [] : [`Node ports are accepted at ${listed(accepted)}.`],
    data: outcome,
    summary: `Node ports are not accepted at ${ip}.`,
    next:
      other === undefined
        ? { text: advice, command: 'kube-proxy status' }
        : {
            text: `call another address of the node, or ${advice}`,
            command: `kube-proxy explain ${joinHostPort(other, port)}${protocolSuffix({ protocol })}`,
          },
  });
}

type Answered = Extract<Outcome, { kind: 'answered' }>;

function answeredStep(outcome: Answered, met: MetFrontend | undefined, detected: DetectedCaller): Finding {
  const { endpoints, lost } = outcome;
  const lines = aligned(
    endpoints.slice(0, MAX_LINES).map(endpoint => [endpoint.text, oddsText(endpoint), seenText(endpoint, detected)]),
  );
  const more = endpoints.length > MAX_LINES ? [`and ${endpoints.length - MAX_LINES} more (-o json has all)`] : [];
  const details = [...lines, ...more, ...remarkLines(outcome, detected)];
  if (lost.length > 0) {
    const text = `A new connection reaches an endpoint, but ${lost.length} of ${endpoints.length + lost.length} cannot answer.`;
    return finding('path', 'bad', text, { details, data: outcome });
  }
  return finding('path', 'good', answeredText(outcome, met), { details, data: outcome });
}

function answeredText({ endpoints, isSticky, choice }: Answered, met: MetFrontend | undefined): string {
  const [only] = endpoints;
  const of = met ? ` of ${planName(met.plan)}` : '';
  if (endpoints.length === 1 && only) return `A new connection goes to ${only.text}.`;
  const how = choiceText(choice);
  const sticky = isSticky ? '; a caller then keeps its endpoint' : '';
  return `A new connection goes to one of ${counted(endpoints.length, 'endpoint')}${of}, ${how}${sticky}.`;
}

function choiceText(choice: Answered['choice']): string {
  switch (choice.kind) {
    case 'random':
      return 'at random';
    case 'turns':
      return 'by turns';
    case 'least-connections':
      return 'one with few connections';
    case 'hash':
      return choice.by === 'client-address' ? "by a hash of the client's address" : 'by a hash of address and port';
    case 'scheduler':
      return `as the scheduler ${choice.scheduler} decides`;
  }
}

function oddsText({ odds }: AnsweringEndpoint): string {
  if (odds === undefined) return '';
  const percent = odds * 100;
  return `${percent >= 10 || Number.isInteger(percent) ? Math.round(percent) : percent.toFixed(1)} %`;
}

function seenText({ seenAs, sourceIP }: AnsweringEndpoint, { ip }: DetectedCaller): string {
  if (seenAs === 'node')
    return `sees ${sourceIP === undefined ? 'an address of the node' : `${sourceIP}, an address of the node`}`;
  return ip === undefined ? "sees the caller's own address" : `sees ${ip}, the caller`;
}

/**
 * The sentence about the source names the caller's address, which is not real if the operator named none. What sockets do
 * has a step of its own.
 */
function remarkLines({ remarks }: Answered, { ip }: DetectedCaller): readonly string[] {
  const named = new Set(['source-kept', 'masquerade-outside', 'own-connection']);
  const shown = remarks.filter(({ code }) => code !== 'at-socket' && (ip !== undefined || !named.has(code)));
  return shown.map(({ text }) => `${sentence(text)}.`);
}

function sentence(text: string): string {
  return /^[a-z][a-z]* /.test(text) ? `${text.slice(0, 1).toUpperCase()}${text.slice(1)}` : text;
}
