import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, EchoServer, type ProbeProtocol, probe } from '../../src/demo/playground/index.ts';
import { askProxy } from '../../src/inspect/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import type { Ip } from '../../src/net/index.ts';
import { Program } from '../control-plane/program.ts';
import { KUBE_PROXY, runKubeProxy, SYNCED } from '../support/kube-proxy.ts';
import { runIn } from '../support/run-in.ts';
import { waitFor } from '../support/wait-for.ts';

interface ShopService {
  readonly spec: object & { readonly ports: readonly [object] };
  readonly status?: object;
  /** The ports of the EndpointSlice. */
  readonly ports: readonly object[];
  /** The pods by their addresses. Those of 10.244.1.0/24 are on this node. */
  readonly pods: Readonly<Record<string, string>>;
}

/** A node with Services of namespace shop, pods that answer, and the real program as its proxy. */
export class Shop {
  readonly cluster = Cluster.create();
  readonly #folder = mkdtempSync(join(tmpdir(), 'incidents-'));
  readonly #manifests = join(this.#folder, 'manifests');
  readonly #config = join(this.#folder, 'config.yaml');
  readonly #socket = join(this.#folder, 'proxy.sock');
  readonly #servers: EchoServer[] = [];
  #proxy: Program | undefined;

  constructor() {
    mkdirSync(this.#manifests);
    const status = { addresses: [{ type: 'InternalIP', address: '192.168.0.2' }] };
    this.#write('node', [{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' }, status }]);
    this.setConfiguration({});
  }

  /** Writes a Service and its EndpointSlice, as the API server and the controller would. */
  setService(name: string, { spec, status = {}, ports, pods }: ShopService): void {
    const metadata = { name, namespace: 'shop' };
    const labels = { 'kubernetes.io/service-name': name };
    const endpoints = Object.entries(pods).map(([ip, pod]) => ({
      addresses: [ip],
      nodeName: ip.startsWith('10.244.1.') ? 'node-a' : 'node-b',
      conditions: { ready: true },
      targetRef: { kind: 'Pod', namespace: 'shop', name: pod },
    }));
    this.#write(name, [
      { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { app: name }, ...spec }, status },
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { ...metadata, name: `${name}-x7k2p`, labels },
        addressType: 'IPv4',
        ports,
        endpoints,
      },
    ]);
  }

  setConfiguration(more: object): void {
    const kind = { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', kind: 'KubeProxyConfiguration' };
    writeFileSync(this.#config, JSON.stringify({ ...kind, mode: 'nftables', clusterCIDR: '10.244.0.0/16', ...more }));
  }

  /** Starts a program in a pod, which answers every caller. */
  async addServer(ip: string, port: number, protocol: ProbeProtocol = 'TCP'): Promise<void> {
    this.#servers.push(await EchoServer.start(this.cluster.addPod(ip as Ip), ip as Ip, port, protocol));
  }

  async startProxy(): Promise<void> {
    const flags = ['--config', this.#config, '--manifests', this.#manifests, '--inspect-socket', this.#socket];
    const command = [KUBE_PROXY, ...flags, '--hostname-override', 'node-a'];
    this.#proxy = new Program('the proxy', command, { namespace: this.cluster.node });
    await this.#proxy.until(SYNCED);
  }

  /** Waits until the process ends by itself, and starts the next one, as a kubelet does. */
  async awaitRestart(): Promise<void> {
    await this.#proxy?.exit;
    await this.startProxy();
  }

  /** Runs a command as in the proxy's pod. */
  run(...args: readonly string[]) {
    return runKubeProxy(this.cluster.node, [...args, '--inspect-socket', this.#socket]);
  }

  onNode(command: string): string {
    const [program = '', ...args] = command.split(' ');
    return runIn(this.cluster.node, program, args);
  }

  /** Waits until the proxy gives this verdict, and its plan and the kernel have this text. */
  async until(to: string, verdict: string, text: string): Promise<void> {
    const isThere = async () => {
      const answer = (await askProxy(this.#socket, `/v1/explain?to=${to}`)) as { verdict: string; steps: unknown };
      return answer.verdict === verdict && JSON.stringify(answer.steps).includes(text);
    };
    await waitFor(`${to} is ${verdict} with ${text}`, isThere, { pollMs: 50 });
  }

  /** Sends one real packet or connection. Returns the address that answers, and the address that it sees as caller. */
  async call(from: NetworkNamespace, ip: string, port: number): Promise<string> {
    const { answers, failures } = await probe(from, ip as Ip, port, 'TCP', { tries: 1 });
    return [...answers.keys(), ...failures].join();
  }

  async close(): Promise<void> {
    await this.#proxy?.stop('SIGKILL');
    await Promise.all(this.#servers.map(server => server.close()));
    this.cluster.close();
    rmSync(this.#folder, { recursive: true });
  }

  #write(name: string, objects: readonly object[]): void {
    writeFileSync(join(this.#manifests, `${name}.yaml`), objects.map(each => JSON.stringify(each)).join('\n---\n'));
  }
}
