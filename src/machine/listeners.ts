import type { NetworkNamespace } from '../kernel/netns.ts';
import type { Family, Ip } from '../net/index.ts';

export interface ListenerQuery {
  readonly family: Family;
  readonly protocol: 'TCP' | 'UDP' | 'SCTP';
  readonly port: number;
}

export interface ListenerOptions {
  /** By default the namespace of this process. It must stay open until the answer is there. */
  readonly namespace?: NetworkNamespace | undefined;
  /** How long to look for the processes. By default half a second. */
  readonly timeoutMs?: number | undefined;
}

/** A socket of this machine that receives what is sent to the port. */
export interface Listener {
  /** `0.0.0.0` or `::` for all addresses. A listener at `::` usually accepts IPv4 connections too. */
  readonly ip: Ip;
  readonly port: number;
  /** Undefined if no process that we can see has the socket: it may be in another container. */
  readonly process: { readonly pid: number; readonly name: string } | undefined;
  /** The socket belongs to this process. */
  readonly isOwn: boolean;
}

export interface FoundListeners {
  readonly listeners: readonly Listener[];
  /** Why listeners or their processes may be missing. Undefined if these are all. */
  readonly incomplete: string | undefined;
}

/** The sockets of this machine that listen at the port. */
export async function findListeners(query: ListenerQuery, options: ListenerOptions = {}): Promise<FoundListeners> {
  return { listeners: [], incomplete: `listeners at port ${query.port} are not read${options.timeoutMs ?? ''}` };
}
