import { Flag, type Message, NetlinkMonitor, Protocol, type TransportOptions } from '../netlink/index.ts';
import { CtMessage } from './attributes.ts';
import { decodeFlow, type Flow } from './flow.ts';

/** Multicast groups of nfnetlink: `NFNLGRP_CONNTRACK_…`. */
const Group = { NEW: 1, UPDATE: 2, DESTROY: 3 } as const;

/** The kernel sends several events for each connection of the machine. */
const RECEIVE_BUFFER = 4 << 20;

/** What became of a flow. The kernel reports a flow as new when its first packet has passed all rules. */
export interface FlowEvent {
  readonly type: 'new' | 'updated' | 'destroyed';
  readonly flow: Flow;
}

export interface FlowEventHandlers {
  event(event: FlowEvent): void;
  /** The kernel dropped events. It reports everything that happens from now on. */
  overrun(): void;
  /** The socket failed. The monitor reports nothing more. */
  failed(error: Error): void;
}

/** Reports what happens to tracked connections in a network namespace. */
export class ConntrackMonitor {
  readonly #monitor: NetlinkMonitor;

  private constructor(monitor: NetlinkMonitor) {
    this.#monitor = monitor;
  }

  static open(handlers: FlowEventHandlers, options: TransportOptions = {}): ConntrackMonitor {
    const listener = {
      message(message: Message): void {
        const event = decodeFlowEvent(message);
        if (event) handlers.event(event);
      },
      overrun: () => handlers.overrun(),
      failed: (error: Error) => handlers.failed(error),
    };
    const withBuffer = { receiveBuffer: RECEIVE_BUFFER, ...options };
    return new ConntrackMonitor(NetlinkMonitor.open(Protocol.NETFILTER, Object.values(Group), listener, withBuffer));
  }

  close(): void {
    this.#monitor.close();
  }
}

/** Events about a flow have the same attributes as the flows of a dump. A new flow has the flag CREATE. */
export function decodeFlowEvent({
  type,
  flags,
  body,
}: Pick<Message, 'type' | 'flags' | 'body'>): FlowEvent | undefined {
  if (type !== CtMessage.NEW && type !== CtMessage.DELETE) return undefined;
  const flow = decodeFlow(body);
  if (!flow) return undefined;
  if (type === CtMessage.DELETE) return { type: 'destroyed', flow };
  return { type: flags & Flag.CREATE ? 'new' : 'updated', flow };
}
