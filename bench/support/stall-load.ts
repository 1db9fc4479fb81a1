import { readFileSync } from 'node:fs';
import { defaultConfiguration } from '../../src/config/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { configuredMode, type ModeEvents } from '../../src/modes/index.ts';
import type { Ip } from '../../src/net/index.ts';
import { makeService, makeSlices } from './cluster.ts';
import { BenchGroup, EbpfLab, SERVER_IP } from './ebpf-lab.ts';
import { openEbpfMode } from './ebpf-node.ts';
import { type BenchMode, NodeProxy } from './node-proxy.ts';
import { median } from './report.ts';
import { Role } from './role.ts';
import type { Load } from './socket-load.ts';
import { counterOf, TIME_WAIT_SOCKETS } from './syn-retries.ts';

export const PORTS = ['random', 'kept'] as const;

/** A way to reach the endpoint. */
export interface StallWay {
  readonly mode: string;
  /** The source ports of masqueraded connections. */
  readonly ports: (typeof PORTS)[number];
  readonly services: number;
}

export interface Stalls {
  readonly way: StallWay;
  readonly connections: number;
  /** SYNs that the kernel sent again. */
  readonly retries: number;
  /** SYNs that the endpoint did not take, because it had the same port in TIME_WAIT with newer timestamps. */
  readonly refused: number;
  /** Connections that took half a second or more. */
  readonly slow: number;
  /** Connections that the endpoint has in TIME_WAIT at the end. */
  readonly waiting: number;
  /** Microseconds of a connection with its question and answer: the median of the callers. */
  readonly p50: number;
  readonly p99: number;
}

const FAMILIES = ['IPv4'] as const;
const CALLERS = 4;
const SERVER_PORT = 9000;

/** Processes of a node connect, ask and wait for the end, over and over. The endpoint closes first. */
export async function measureStalls({ ms, ...way }: StallWay & { readonly ms: number }): Promise<Stalls> {
  const lab = new EbpfLab();
  const group = way.mode === 'ebpf' ? new BenchGroup() : undefined;
  const proxy = new NodeProxy(lab.node.namespace, {
    families: FAMILIES,
    open: (namespace, events) =>
      group ? openEbpfMode(namespace, events, group, FAMILIES) : openMode(way, namespace, events),
  });
  const roles: Role[] = [];
  const start = async (core: number, namespace: NetworkNamespace) => {
    const role = await Role.start('load', core, namespace);
    roles.push(role);
    return role;
  };
  try {
    lab.server.set('net/ipv4/tcp_max_tw_buckets', TIME_WAIT_SOCKETS);
    const server = await start(0, lab.server.namespace);
    await server.ask({ kind: 'serve', options: { ip: SERVER_IP, port: SERVER_PORT } });
    const services = await addServices(proxy, way.services);
    const callers = await Promise.all(Array.from({ length: CALLERS }, (_, i) => start(i % 2, lab.node.namespace)));
    for (const { pid } of callers) group?.take(pid);
    const before = counters(lab);
    const loads = await Promise.all(
      callers.map((caller, i) => {
        const address = { ip: services[i % services.length], port: 80 };
        return caller.ask<Load>({ kind: 'load', operation: 'connection', address, ms });
      }),
    );
    const after = counters(lab);
    return {
      way,
      connections: loads.reduce((sum, { count }) => sum + count, 0),
      retries: after.retries - before.retries,
      refused: after.refused - before.refused,
      slow: loads.reduce((sum, { slow }) => sum + slow, 0),
      waiting: timeWaitSockets(lab.server.namespace),
      p50: median(loads.map(({ p50 }) => p50)),
      p99: median(loads.map(({ p99 }) => p99)),
    };
  } finally {
    await Promise.all(roles.map(role => role.end()));
    await proxy.close();
    group?.close();
    lab.close();
  }
}

function openMode({ mode, ports }: StallWay, namespace: NetworkNamespace, events: ModeEvents): BenchMode {
  // A notice of iptables mode may be about settings of this machine. They do not matter here.
  const context = { namespace, events: { ...events, notice() {} } };
  const flags = { countConnections: false, keepNodeSourcePorts: ports === 'kept' };
  return configuredMode({ ...defaultConfiguration(), mode }, flags).create(context);
}

/** Services that all have the endpoint of the lab. Returns their cluster IPs. */
async function addServices(proxy: NodeProxy, count: number): Promise<readonly Ip[]> {
  const services = Array.from({ length: count }, (_, i) => makeService(i));
  for (const [i, service] of services.entries()) {
    proxy.service(service);
    for (const slice of makeSlices(i, 1)) {
      proxy.endpointSlice({
        ...slice,
        ports: slice.ports.map(port => ({ ...port, port: SERVER_PORT })),
        endpoints: slice.endpoints.map(endpoint => ({ ...endpoint, addresses: [SERVER_IP] })),
      });
    }
  }
  await proxy.write(proxy.take());
  return services.map(({ spec }) => spec.clusterIP as Ip);
}

function counters({ node, server }: EbpfLab) {
  return {
    retries: counterOf(node.namespace, 'TCPSynRetrans'),
    refused: counterOf(server.namespace, 'PAWSTimewait'),
  };
}

function timeWaitSockets(namespace: NetworkNamespace): number {
  const text = namespace.run(() => readFileSync('/proc/thread-self/net/sockstat', 'latin1'));
  return Number(/^TCP:.* tw (\d+)/m.exec(text)?.[1]);
}
