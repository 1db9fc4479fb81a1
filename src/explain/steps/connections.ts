import type { TrackedFlow } from '../../machine/index.ts';
import type { KernelReading, PinnedClient } from '../../modes/index.ts';
import { isLoopback, joinHostPort } from '../../net/index.ts';
import type { DetectedCaller } from '../caller-detection.ts';
import type { Facts } from '../facts.ts';
import { counted, type Finding, finding } from '../finding.ts';
import { protocolSuffix } from '../near-misses/service.ts';
import { nodeIPsOf } from '../node-addresses.ts';
import type { Outcome } from '../outcome.ts';
import type { MetFrontend } from '../target.ts';

const MAX_LINES = 5;

/** The connections that the kernel remembers: they follow their first packet, whatever the rules say now. */
export async function connectionsStep(
  met: MetFrontend,
  detected: DetectedCaller,
  outcome: Outcome,
  facts: Facts,
  reading: Promise<KernelReading | undefined>,
): Promise<Finding | undefined> {
  const { kernel } = facts;
  if (!kernel?.flows) return undefined;
  const { family, ip, port, protocol } = met;
  const found = await kernel.flows({ family, protocol, source: detected.ip, destination: ip, port });
  const current = currentTargets(met, outcome);
  const old = found.flows.filter(flow => !current.has(targetOf(flow)) && !isRelayed(flow, facts));
  const pinned = ((await reading)?.affinity ?? []).filter(({ client }) => isOf(client, detected, outcome));
  const details = [
    ...pinned.map(affinityText),
    ...(found.incomplete === undefined ? [] : [`Not everything was read: ${found.incomplete}.`]),
  ];
  const data = { flows: found.flows, old: old.length, affinity: pinned, incomplete: found.incomplete };
  // A socket connects to the endpoint itself, so no connection to the address of the Service is expected.
  if (isAtSocket(outcome) && found.flows.length === 0 && found.incomplete === undefined) {
    const [first] = pinned;
    return first && finding('connections', 'good', affinityText(first), { data });
  }
  const whose = detected.ip === undefined ? 'any caller' : 'this caller';
  if (old.length === 0) {
    const text = `The kernel tracks ${counted(found.flows.length, 'connection')} of ${whose} to this address${found.flows.length === 0 ? '' : ', none to an old endpoint'}.`;
    return finding('connections', 'good', text, { details, data });
  }
  return oldFlows(old, met, detected, { details, data, whose });
}

/** What packets and sockets remember is apart. The network namespace of a pod is not known here. */
function isOf(client: string, { ip, caller }: DetectedCaller, outcome: Outcome): boolean {
  return isAtSocket(outcome) ? client === 'node' && caller.place === 'node' : client === ip;
}

function isAtSocket(outcome: Outcome): boolean {
  return outcome.kind === 'answered' && outcome.at === 'socket';
}

function affinityText({ endpoint, secondsLeft }: PinnedClient): string {
  const time = secondsLeft === undefined ? '' : ` for ${secondsLeft} s more`;
  return `Session affinity leads the caller to ${endpoint}${time}.`;
}

interface FlowTexts {
  readonly details: readonly string[];
  readonly data: object;
  readonly whose: string;
}

/** New TCP connections have a new port and so a new flow. UDP programs often keep their port, and so their old flow. */
function oldFlows(old: readonly TrackedFlow[], met: MetFrontend, detected: DetectedCaller, texts: FlowTexts): Finding {
  const { ip, port, protocol } = met;
  const [first] = old;
  const target = first ? (first.isTranslated ? targetOf(first) : 'no endpoint at all') : '';
  const count = `${counted(old.length, 'connection')} of ${texts.whose} ${old.length === 1 ? 'is' : 'are'}`;
  const text = `${count} pinned to ${target}, which this frontend does not use.`;
  const source = detected.ip === undefined ? '' : ` --orig-src ${detected.ip}`;
  const command = `conntrack -D -p ${protocol.toLowerCase()}${source} --orig-dst ${ip} --orig-port-dst ${port}`;
  const isLasting = protocol !== 'TCP' && detected.ip !== undefined;
  const callerOf = (flow: TrackedFlow) =>
    `kube-proxy explain --from ${flow.caller} ${joinHostPort(ip, port)}${protocolSuffix({ protocol })}`;
  return finding('connections', isLasting ? 'bad' : 'note', text, {
    details: [...old.slice(0, MAX_LINES).map(flow => flow.text), ...texts.details],
    data: texts.data,
    ...(isLasting ? { next: { text: 'make the kernel forget the old connections, on the node', command } } : {}),
    ...(!isLasting && protocol !== 'TCP' && first
      ? { next: { text: 'ask for the caller of the old connection', command: callerOf(first) } }
      : {}),
  });
}

/** The places where flows of this frontend may rightly lead. */
function currentTargets({ plan }: MetFrontend, outcome: Outcome): ReadonlySet<string> {
  const planned = [...plan.endpoints.cluster, ...plan.endpoints.local].map(({ text }) => text);
  const answering = outcome.kind === 'answered' ? outcome.endpoints.map(({ text }) => text) : [];
  return new Set([...planned, ...answering]);
}

/** The process of the mode, or its listener at loopback, gets the packets and relays them. */
function isRelayed({ target }: TrackedFlow, facts: Facts): boolean {
  if (isLoopback(target)) return true;
  return facts.mode.behaviour.isRelay && nodeIPsOf(facts).includes(target);
}

function targetOf({ target, targetPort }: TrackedFlow): string {
  return joinHostPort(target, targetPort);
}
