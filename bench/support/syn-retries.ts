import { readFileSync } from 'node:fs';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { EbpfNode } from './ebpf-node.ts';
import type { Way } from './slices.ts';

/** The usual limit. Elsewhere in the lab nothing stays in TIME_WAIT. */
export const TIME_WAIT_SOCKETS = 262_144;

export interface SynRetries {
  readonly way: Way;
  readonly connections: number;
  /** SYNs that the kernel sent again. The connection then took a second longer. */
  readonly retries: number;
  /** SYNs that the endpoint did not take, because it had the same port in TIME_WAIT. */
  readonly refused: number;
}

/** A process of the node connects to a Service whose endpoint closes first and keeps each connection in TIME_WAIT. */
export async function measureSynRetries(
  node: EbpfNode,
  way: Way,
  limits: { readonly stallConnections: number; readonly stallMs: number },
): Promise<SynRetries> {
  const { lab, clients } = node;
  lab.server.set('net/ipv4/tcp_max_tw_buckets', TIME_WAIT_SOCKETS);
  const { service } = await node.addAnswered(true);
  const before = counters(lab.node.namespace, lab.server.namespace);
  const { count } = await clients.connectMany('node', way, service, limits.stallConnections, limits.stallMs);
  const after = counters(lab.node.namespace, lab.server.namespace);
  return {
    way,
    connections: count,
    retries: after.retries - before.retries,
    refused: after.refused - before.refused,
  };
}

function counters(client: NetworkNamespace, server: NetworkNamespace) {
  return { retries: counterOf(client, 'TCPSynRetrans'), refused: counterOf(server, 'PAWSTimewait') };
}

/** A counter of /proc/net/netstat: a line of names, then a line of numbers. */
export function counterOf(namespace: NetworkNamespace, name: string): number {
  const text = namespace.run(() => readFileSync('/proc/thread-self/net/netstat', 'latin1'));
  const [names = [], numbers = []] = text
    .split('\n')
    .filter(line => line.startsWith('TcpExt:'))
    .map(line => line.split(' '));
  const value = Number(numbers[names.indexOf(name)]);
  if (!Number.isInteger(value)) throw new Error(`the kernel does not count ${name}`);
  return value;
}
