import { readFileSync } from 'node:fs';
import { CONTROL_PLANE, type Host, NODES } from '../cluster/addresses.ts';
import type { Background } from '../cluster/background.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { waitUntil } from '../cluster/run.ts';
import { readCounts, type TrafficCount } from './traffic-counts.ts';

const CLUSTER_IP = '10.96.77.77:80';
const NODE_PORT = 30777;
/** Of each client. */
const CONNECTIONS_EACH_SECOND = 25;

/** Clients that connect without a pause: from outside to the node port of each node, and on each node to a cluster IP. */
export class SteadyTraffic {
  readonly #clients: readonly { readonly program: Background; readonly log: string }[];

  private constructor(cluster: Cluster) {
    const nodePorts = NODES.map(({ name, v4 }) => `node-port-of-${name}=${v4}:${NODE_PORT}`);
    this.#clients = [
      startClient(cluster, CONTROL_PLANE, nodePorts),
      ...NODES.map(node => startClient(cluster, node, [`cluster-IP-from-${node.name}=${CLUSTER_IP}`])),
    ];
  }

  /** Resolves when the Service answers. */
  static async start(cluster: Cluster): Promise<SteadyTraffic> {
    cluster.apply(readFileSync('test/conformance/while-it-runs/traffic.yaml', 'utf8'));
    cluster.kubectl(['rollout', 'status', 'deployment/steady', '--timeout=3m']);
    const ask = (address: string) => `exec 3<>/dev/tcp/${address.replace(':', '/')} && grep -q steady <&3`;
    for (const node of cluster.nodes) {
      await waitUntil(`the Service answers on ${node.host.name}`, () => {
        node.run(['timeout', '2', 'bash', '-c', ask(CLUSTER_IP)]);
        node.run(['timeout', '2', 'bash', '-c', ask(`${node.host.v4}:${NODE_PORT}`)]);
        return true;
      });
    }
    return new SteadyTraffic(cluster);
  }

  /** Ends the clients, and returns what became of their connections. */
  async stop(): Promise<readonly TrafficCount[]> {
    await Promise.all(this.#clients.map(({ program }) => program.stop('SIGTERM')));
    return this.#clients.flatMap(({ log }) => readCounts(readFileSync(log, 'utf8')));
  }
}

function startClient(cluster: Cluster, host: Host, targets: readonly string[]) {
  const name = `client-of-${host.name}`;
  const log = `${cluster.folder}/logs/${name}.log`;
  const rate = `${CONNECTIONS_EACH_SECOND}`;
  const command = [process.execPath, 'test/swap/connections.mjs', 'poll', rate, ...targets];
  return { log, program: cluster.background(name, host, command, { log }) };
}
