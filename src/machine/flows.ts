import {
  ConntrackSocket,
  type Flow,
  type FlowFilter,
  type FlowSearch,
  type FlowState,
  L4,
  printFlow,
  Status,
} from '../kernel/conntrack/index.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Ip } from '../net/index.ts';
import type { Packet } from './packet.ts';

const DEFAULT_LIMIT = 100;
/** Kernels before 5.8 send flows that do not match. So do all kernels if the addresses are IPv6. */
const MAX_RECEIVED = 20_000;

export interface FlowOptions {
  /** By default the namespace of this process. It must stay open until the answer is there. */
  readonly namespace?: NetworkNamespace | undefined;
  /** How many flows to return. By default 100. */
  readonly limit?: number | undefined;
  /** How many flows the kernel may send. By default 20,000. */
  readonly maxReceived?: number | undefined;
}

/** A connection that the kernel tracks. Its packets follow it, whatever the rules say now. */
export interface TrackedFlow {
  readonly caller: Ip;
  readonly callerPort: number;
  /** The address and port that answers: where the kernel sends the packets of this flow. */
  readonly target: Ip;
  readonly targetPort: number;
  /** False if the packets go to the address that the caller called, for example because no rule existed then. */
  readonly isTranslated: boolean;
  /** The target sees another address than the caller's. */
  readonly isSourceReplaced: boolean;
  /** Undefined for UDP, which has no states. */
  readonly state: FlowState | undefined;
  readonly isUnreplied: boolean;
  /** Seconds until the kernel forgets the flow, if no further packet comes. */
  readonly secondsLeft: number | undefined;
  /** As `conntrack -L` prints it. */
  readonly text: string;
}

export interface FoundFlows {
  readonly flows: readonly TrackedFlow[];
  /** Why flows may be missing. Undefined if these are all. */
  readonly incomplete: string | undefined;
}

/** The tracked connections from this caller to this address and port. From any caller, if the packet has no source. */
export async function findFlows(packet: Packet, options: FlowOptions = {}): Promise<FoundFlows> {
  const { namespace, limit = DEFAULT_LIMIT, maxReceived = MAX_RECEIVED } = options;
  const socket = ConntrackSocket.open({ namespace });
  try {
    const { flows, ended } = await socket.search(filterOf(packet), { limit, maxReceived });
    return { flows: flows.map(toTrackedFlow), incomplete: reasonOf(ended, limit, maxReceived) };
  } finally {
    socket.close();
  }
}

function reasonOf(ended: FlowSearch['ended'], limit: number, maxReceived: number): string | undefined {
  switch (ended) {
    case undefined:
      return undefined;
    case 'limit':
      return `there are more than ${limit} flows`;
    case 'received':
      return `the kernel sent ${maxReceived} flows, because it does not search for all fields, and it has more`;
  }
}

function filterOf({ family, protocol, source, destination, port }: Packet): FlowFilter {
  const original = { dst: destination, dstPort: port, ...(source !== undefined && { src: source }) };
  return { family, protocol: L4[protocol], original };
}

function toTrackedFlow(flow: Flow): TrackedFlow {
  const { original, reply, state, timeout, status = 0 } = flow;
  return {
    caller: original.src,
    callerPort: original.srcPort,
    target: reply.src,
    targetPort: reply.srcPort,
    isTranslated: reply.src !== original.dst || reply.srcPort !== original.dstPort,
    isSourceReplaced: reply.dst !== original.src,
    state,
    isUnreplied: (status & Status.SEEN_REPLY) === 0,
    secondsLeft: timeout,
    text: printFlow(flow),
  };
}
