import { listInetSockets } from '../kernel/inet-sockets.ts';
import type { NetworkNamespace } from '../kernel/netns.ts';
import { findSocketOwners } from '../kernel/processes.ts';
import { type Family, type Ip, isUnspecified } from '../net/index.ts';

const TIMEOUT_MS = 500;
/** With SO_REUSEPORT a program may listen with many sockets at one port. */
const MAX_LISTENERS = 100;

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
  const { namespace, timeoutMs = TIMEOUT_MS } = options;
  const { sockets, incomplete } = listSockets(query, namespace);
  const inodes = new Set(sockets.map(({ inode }) => inode));
  const { owners, isComplete } = await findSocketOwners(inodes, timeoutMs);
  const listeners = sockets.map(({ ip, port, inode }): Listener => {
    const owner = owners.get(inode);
    return {
      ip,
      port,
      process: owner && { pid: owner.pid, name: owner.command },
      isOwn: owner?.pid === process.pid,
    };
  });
  const late = isComplete ? undefined : `the search for processes took longer than ${timeoutMs} ms`;
  return { listeners, incomplete: incomplete ?? late };
}

/** An IPv6 socket at `::` receives IPv4 packets too, unless it is for IPv6 only. */
function listSockets(query: ListenerQuery, namespace: NetworkNamespace | undefined) {
  const own = listInetSockets(query, namespace);
  const others = query.family === 'IPv6' ? [] : listInetSockets({ ...query, family: 'IPv6' }, namespace);
  const dual = (others ?? []).filter(({ ip, isV6Only }) => isUnspecified(ip) && !isV6Only);
  const found = [...(own ?? []), ...dual];
  const sockets = found.slice(0, MAX_LISTENERS);
  if (!own) return { sockets, incomplete: `the kernel does not list ${query.protocol} sockets to this process` };
  const isCut = sockets.length < found.length;
  return { sockets, incomplete: isCut ? `there are more than ${MAX_LISTENERS} listeners` : undefined };
}
