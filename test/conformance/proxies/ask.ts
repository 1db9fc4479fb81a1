import { setTimeout as delay } from 'node:timers/promises';
import type { Ip } from '../../../src/net/index.ts';
import { HttpClient } from '../../control-plane/http-client.ts';
import { type Host, NODES } from '../cluster/addresses.ts';
import type { Cluster } from '../cluster/cluster.ts';

const METRICS_PORT = 10249;
const HEALTH_PORT = 10256;
const POLL_MS = 500;
const READY_MS = 180_000;

/** Waits until the proxy of every node is healthy and runs in the mode. */
export async function waitForProxies(cluster: Cluster, mode: string): Promise<void> {
  const end = Date.now() + READY_MS;
  for (const node of NODES) {
    while (!(await isReady(cluster, node, mode))) {
      if (Date.now() > end) throw new Error(`The proxy of ${node.name} is not healthy in ${mode} mode`);
      await delay(POLL_MS);
    }
  }
}

async function isReady(cluster: Cluster, node: Host, mode: string): Promise<boolean> {
  const [health, found] = await Promise.all([
    ask(cluster, node, HEALTH_PORT, '/healthz'),
    ask(cluster, node, METRICS_PORT, '/proxyMode'),
  ]);
  return health !== undefined && found === mode;
}

/** What the proxy answers with status 200. */
async function ask(cluster: Cluster, node: Host, port: number, path: string): Promise<string | undefined> {
  const client = new HttpClient({ namespace: cluster.network.of(node), ip: '127.0.0.1' as Ip, port });
  try {
    const { status, text } = await client.request({ method: 'GET', path });
    return status === 200 ? text : undefined;
  } catch {
    return undefined;
  } finally {
    client.close();
  }
}
