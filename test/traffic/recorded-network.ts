import type { EndpointSlice } from '../../src/api/index.ts';
import { HOSTS, SERVICE_NETWORKS } from '../../src/demo/playground/addresses.ts';
import { type ProbeResult, placementOf } from '../../src/demo/playground/index.ts';
import type { AnsweringEndpoint, Caller, Outcome } from '../../src/explain/index.ts';
import { cidrContains, type Family, familyOf, type Ip, isLoopback } from '../../src/net/index.ts';
import { address } from './endpoints.ts';
import { CLIENT_POD, MAX_ASKING_ENDPOINTS, type Question, type Source, type Sources } from './matrix.ts';

/** The addresses of the node in the recorded network. */
export const NODE_IPS: readonly Ip[] = [
  '127.0.0.1',
  '::1',
  '192.168.0.2',
  'fd00:192:168::2',
  '10.244.1.1',
  'fd00:10:244:1::1',
].map(address);

/** A caller of the recorded network. */
export interface RecordedSource extends Source {
  readonly caller: Caller;
}

const HOST_IPS: Readonly<Record<Family, Readonly<Record<'node' | 'ext' | 'other-node', string>>>> = {
  IPv4: { node: '192.168.0.2', ext: '192.168.0.100', 'other-node': '192.168.0.3' },
  IPv6: { node: 'fd00:192:168::2', ext: 'fd00:192:168::100', 'other-node': 'fd00:192:168::3' },
};

/** The callers of a step. `slices` are all that the case has or had: an endpoint that left its slice still calls. */
export function recordedSources(slices: readonly EndpointSlice[]): Sources<RecordedSource> {
  return { IPv4: sourcesOf('IPv4', slices), IPv6: sourcesOf('IPv6', slices) };
}

function sourcesOf(family: Family, slices: readonly EndpointSlice[]): readonly RecordedSource[] {
  const { node, ext, 'other-node': otherNode } = HOST_IPS[family];
  return [
    { name: 'node', caller: { place: 'node', ip: address(node) } },
    { name: 'pod', caller: { place: 'pod', ip: address(CLIENT_POD[family]) } },
    { name: 'ext', caller: { place: 'outside', ip: address(ext) } },
    { name: 'other-node', caller: { place: 'outside', ip: address(otherNode) } },
    ...podsOf(family, slices)
      .slice(0, MAX_ASKING_ENDPOINTS)
      .map(ip => ({ name: `self(${ip})`, caller: { place: 'pod', ip } as const, isEndpoint: true })),
  ];
}

/** The pods on the node that have an echo server, sorted by the text of their addresses. */
function podsOf(family: Family, slices: readonly EndpointSlice[]): readonly Ip[] {
  const served = slices.filter(({ ports }) => ports.some(({ protocol }) => protocol !== 'SCTP'));
  const ips = served.flatMap(({ endpoints }) => endpoints.map(({ addresses }) => address(addresses[0] ?? '')));
  const pods = ips.filter(ip => familyOf(ip) === family && placementOf(ip).kind === 'pod');
  return [...new Set(pods)].sort();
}

/** What the probes of a caller see in the recorded network, if the node does to connections what the outcome says. */
export function resultIn(question: Question<RecordedSource>, outcome: Outcome): ProbeResult {
  const { caller } = question.source;
  switch (outcome.kind) {
    case 'refused':
      return failing(isRejectedOnSending(question) ? 'EPERM' : 'refused');
    case 'silent':
      return failing('timeout');
    case 'elsewhere':
      // No program of the node listens at a port that is asked, and no machine has an address of a Service.
      return failing(outcome.at === 'network' ? 'timeout' : 'refused');
    case 'answered':
      return answering(outcome, caller);
  }
}

/**
 * The kernel returns EPERM from the call that sends a datagram if a rule rejects it on its way out. A datagram to an
 * address of the node itself is on its way in when a rule rejects it.
 */
function isRejectedOnSending({ source: { caller }, protocol, ip }: Question<RecordedSource>): boolean {
  return caller.place === 'node' && protocol === 'UDP' && !NODE_IPS.includes(ip) && !isLoopback(ip);
}

function failing(failure: string): ProbeResult {
  return { answers: new Map(), failures: new Set([failure]) };
}

function answering({ endpoints, lost, isSticky }: Extract<Outcome, { kind: 'answered' }>, caller: Caller): ProbeResult {
  const answers = endpoints.filter(hasRouteBack).map(endpoint => answerText(endpoint, caller));
  const isPartial = lost.length > 0 || answers.length < endpoints.length;
  // Which endpoint a sticky caller keeps is a matter of chance. The first one stands for all.
  const seen = isSticky ? answers.slice(0, 1) : answers;
  return { answers: new Map(seen.map(text => [text, 1])), failures: new Set(isPartial ? ['timeout'] : []) };
}

/** Not every machine sends packets for addresses of Services to the node. */
function hasRouteBack({ text, sourceIP }: AnsweringEndpoint): boolean {
  if (sourceIP === undefined || !SERVICE_NETWORKS.some(network => isIn(network, sourceIP))) return true;
  const placement = placementOf(splitEndpoint(text).ip);
  if (placement.kind === 'pod' || placement.kind === 'node') return true;
  return HOSTS.some(({ name, usesServices }) => name === placement.host && usesServices);
}

function isIn(network: (typeof SERVICE_NETWORKS)[number], ip: Ip): boolean {
  return familyOf(network.address) === familyOf(ip) && cidrContains(network, ip);
}

/** As an echo server writes it: its address and port, and the address that it sees. */
function answerText({ text, seenAs, sourceIP }: AnsweringEndpoint, caller: Caller): string {
  const { ip, port } = splitEndpoint(text);
  const chosenByKernel = HOST_IPS[familyOf(ip)].node;
  return `${ip} ${port} ${seenAs === 'itself' ? caller.ip : (sourceIP ?? chosenByKernel)}`;
}

function splitEndpoint(text: string): { readonly ip: Ip; readonly port: string } {
  const colon = text.lastIndexOf(':');
  return { ip: address(text.slice(0, colon).replace(/^\[|\]$/g, '')), port: text.slice(colon + 1) };
}
