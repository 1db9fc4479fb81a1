import type { ModeCondition } from '../../modes/index.ts';
import { joinHostPort } from '../../net/index.ts';
import type { DetectedCaller } from '../caller-detection.ts';
import { outcomeInput } from '../connection-outcome.ts';
import type { Facts } from '../facts.ts';
import { type Finding, finding } from '../finding.ts';
import { type AtSocket, atSocket } from '../outcome/index.ts';
import type { MetFrontend } from '../target.ts';

/** What the caller's socket does with the connection. Empty if the mode serves no sockets. */
export function socketsStep(met: MetFrontend, detected: DetectedCaller, facts: Facts): readonly Finding[] {
  const decided = atSocket(outcomeInput(met, detected, facts));
  if (!decided) return [];
  const { condition } = facts;
  if (condition?.isServing === false) return [notServing(decided, met, condition)];
  if (decided.kind === 'left') {
    const text = `The socket leaves the connection to the rules: ${decided.reason}.`;
    return [finding('sockets', 'good', text, { data: { decision: 'left', reason: decided.reason } })];
  }
  return [finding('sockets', 'good', decidedText(decided, met), { data: { decision: decisionOf(decided) } })];
}

type Decided = Extract<AtSocket, { kind: 'decided' }>;

function decidedText(decided: Decided, { ip, port }: MetFrontend): string {
  const address = joinHostPort(ip, port);
  return decisionOf(decided) === 'refused'
    ? `The kernel refuses ${address} inside connect(), before any packet.`
    : `The kernel replaces ${address} with an endpoint inside connect(), before any packet.`;
}

function decisionOf({ outcome }: Decided): 'translated' | 'refused' {
  return outcome.kind === 'answered' ? 'translated' : 'refused';
}

/** The mode serves by rules alone, and says why. */
function notServing(decided: AtSocket, met: MetFrontend, { note }: ModeCondition): Finding {
  const text = `The mode does not serve sockets now: ${note}.`;
  const details = decided.kind === 'left' ? ['For this connection that is no difference.'] : lostDetails(decided, met);
  return finding('sockets', 'note', text, {
    details,
    data: { decision: 'not serving', reason: note },
    next: {
      text: 'remove the cause; the proxy then tries again by itself, every sync period',
      command: 'kube-proxy status',
    },
  });
}

function lostDetails(decided: Decided, { ip, port }: MetFrontend): readonly string[] {
  const address = joinHostPort(ip, port);
  if (decisionOf(decided) === 'refused') return [`Otherwise the kernel would refuse ${address} inside connect().`];
  return [`Otherwise the kernel would replace ${address} inside connect(), and a pod would keep its source address.`];
}
