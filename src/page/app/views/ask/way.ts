import type { AnsweringEndpoint, Explanation, Outcome } from '../../../../explain/index.ts';
import { capitalized, FRONTEND_WORDS, hostPort, percent } from '../../parts/texts.ts';

/** The way of a new connection in a few words: caller, frontend, and where it ends. */
export interface Way {
  readonly caller: Station | undefined;
  /** The kernel replaces the address inside `connect()`, before any packet. */
  readonly isAtSocket: boolean;
  readonly frontend: Station | undefined;
  /** Why no endpoint gets the connection. Undefined if endpoints get it. */
  readonly end: Station | undefined;
  readonly endpoints: readonly EndpointStation[];
  /** Further endpoints that are not listed. */
  readonly more: number;
}

export interface Station {
  readonly title: string;
  readonly detail: string;
  /** `ns/name` of the Service that it belongs to. */
  readonly service?: string;
}

export interface EndpointStation {
  /** `ip:port` */
  readonly address: string;
  /** `33 %`. Empty if only the kernel knows. */
  readonly odds: string;
  /** The endpoint sees the node as its caller. */
  readonly isAsNode: boolean;
  /** `sees 192.168.0.2` */
  readonly seen: string;
  /** The endpoint gets the connection, but its answers do not reach the caller. */
  readonly isLost: boolean;
  readonly probe: ProbeReading | undefined;
}

export interface ProbeReading {
  readonly outcome: string;
  readonly ms: number;
  readonly isGood: boolean;
  /** The probe says nothing about the endpoint. */
  readonly isInconclusive: boolean;
}

const MAX_ENDPOINTS = 50;
const INCONCLUSIVE: ReadonlySet<string> = new Set(['cannot tell', 'unsupported', 'not probed']);

export function wayOf(explanation: Explanation): Way {
  const { outcome } = explanation;
  const all = outcome?.kind === 'answered' ? endpointsOf(explanation, outcome) : [];
  return {
    caller: callerOf(explanation),
    isAtSocket: outcome?.kind === 'answered' && outcome.at === 'socket',
    frontend: frontendOf(explanation),
    end: endOf(outcome),
    endpoints: all.slice(0, MAX_ENDPOINTS),
    more: Math.max(0, all.length - MAX_ENDPOINTS),
  };
}

const PLACES = { pod: 'Pod', node: 'This node', outside: 'Outside' } as const;

function callerOf({ caller }: Explanation): Station | undefined {
  if (!caller) return undefined;
  const { place, ip, pod, isAssumed } = caller;
  const known = [pod, ip].filter(text => text !== undefined).join(' ');
  return { title: PLACES[place], detail: isAssumed ? 'assumed caller' : known };
}

function frontendOf({ target, question }: Explanation): Station | undefined {
  if (!target) return { title: 'Destination', detail: question.to };
  const { frontend, address, protocol, service } = target;
  return { title: capitalized(FRONTEND_WORDS[frontend]), detail: `${address}/${protocol.toLowerCase()}`, service };
}

function endOf(outcome: Outcome | undefined): Station | undefined {
  switch (outcome?.kind) {
    case 'refused':
      return { title: outcome.at === 'socket' ? 'Refused at the socket' : 'Refused', detail: outcome.reason };
    case 'silent':
      return { title: 'No answer', detail: outcome.reason };
    case 'elsewhere':
      return { title: ELSEWHERE[outcome.at], detail: outcome.reason };
    default:
      return undefined;
  }
}

const ELSEWHERE = {
  node: 'A program of the node',
  network: 'The network beyond the node',
  caller: "The caller's own machine",
} as const;

type Answered = Extract<Outcome, { kind: 'answered' }>;

function endpointsOf(explanation: Explanation, { endpoints, lost }: Answered): readonly EndpointStation[] {
  const probes = probesOf(explanation);
  const callerIP = explanation.caller?.ip;
  return [
    ...endpoints.map(endpoint => ({
      address: endpoint.text,
      odds: oddsText(endpoint.odds),
      isAsNode: endpoint.seenAs === 'node',
      seen: seenText(endpoint, callerIP),
      isLost: false,
      probe: probes.get(endpoint.text),
    })),
    ...lost.map(address => ({
      address,
      odds: '',
      isAsNode: false,
      seen: 'its answers do not come back',
      isLost: true,
      probe: probes.get(address),
    })),
  ];
}

export function oddsText(odds: number | undefined): string {
  return odds === undefined ? '' : percent(odds);
}

function seenText({ seenAs, sourceIP }: AnsweringEndpoint, callerIP: string | undefined): string {
  if (seenAs === 'node') return `sees ${sourceIP ?? 'an address of the node'}`;
  return `sees ${callerIP ?? 'the caller'}`;
}

interface ProbeData {
  readonly results?: readonly {
    readonly endpoint: { readonly ip: string; readonly port: number };
    readonly outcome: string;
    readonly ms: number;
  }[];
}

/** The results of the step that probed, by `ip:port`. */
function probesOf({ steps }: Explanation): ReadonlyMap<string, ProbeReading> {
  const data = steps.find(({ topic }) => topic === 'probe')?.data as ProbeData | undefined;
  return new Map(
    (data?.results ?? []).map(({ endpoint: { ip, port }, outcome, ms }) => [
      hostPort(ip, port),
      { outcome, ms, isGood: outcome === 'connected', isInconclusive: INCONCLUSIVE.has(outcome) },
    ]),
  );
}

/** What a trace of the same connection follows. */
export interface TraceQuestion {
  /** An address, or `node`. Empty: packets from anywhere. */
  readonly from: string;
  readonly to: string;
  /**
   * The node itself opens a connection. It can only do so for itself, or if the operator named no caller, and only to
   * the address of a Service.
   */
  readonly isSent: boolean;
}

export function traceQuestion(explanation: Explanation, mayProbe: boolean): TraceQuestion {
  const { target, caller, question } = explanation;
  const endpoint = endpointOfSocket(explanation);
  const to = target ? `${endpoint ?? target.address}/${target.protocol.toLowerCase()}` : question.to;
  const isSent = mayProbe && target !== undefined && target.protocol !== 'SCTP' && endpoint === undefined;
  if (!caller || caller.isAssumed) return { from: '', to, isSent };
  if (caller.place === 'node') return { from: 'node', to, isSent };
  return { from: caller.ip ?? '', to, isSent: false };
}

/** Packets have the address of an endpoint if the socket replaced that of the Service. */
function endpointOfSocket({ outcome }: Explanation): string | undefined {
  return outcome?.kind === 'answered' && outcome.at === 'socket' ? outcome.endpoints[0]?.text : undefined;
}
