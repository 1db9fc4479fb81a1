import { EchoServer, probe } from '../../src/demo/playground/index.ts';
import type { NetworkNamespace } from '../../src/kernel/netns.ts';
import { type Family, familyOf, type Ip } from '../../src/net/index.ts';
import { type HttpAnswer, HttpClient } from '../control-plane/http-client.ts';
import { loopbackOf, withRoutes } from '../support/namespaces.ts';
import { nft } from '../support/nftables-mode.ts';
import { parsePrometheusText, type Sample } from '../support/prometheus-text.ts';

const HEALTH_PORT = 10256;
const METRICS_PORT = 10249;

/** The node that the proxy runs on: its pods, clients on it, and the state of its kernel. */
export class TestNode {
  readonly namespace: NetworkNamespace;
  readonly #pods: EchoServer[] = [];

  constructor(namespace: NetworkNamespace) {
    this.namespace = namespace;
  }

  /** Adds a pod that answers with its address. */
  async addPod(ip: string, port = 8080): Promise<EchoServer> {
    const address = { ip: ip as Ip, prefix: ip.includes(':') ? 128 : 32, nodad: true };
    withRoutes(this.namespace, route => route.addAddress(loopbackOf(route), address));
    const pod = await EchoServer.start(this.namespace, ip as Ip, port, 'TCP');
    this.#pods.push(pod);
    return pod;
  }

  /** Makes one connection. Returns the address of the pod that answered, or how the connection failed. */
  async ask(ip: string, port = 80): Promise<string> {
    const { answers, failures } = await probe(this.namespace, ip as Ip, port, 'TCP', { tries: 1, timeoutMs: 2000 });
    const [answer = [...failures].join()] = answers.keys();
    return answer.split(' ')[0] ?? '';
  }

  health(path: string): Promise<HttpAnswer> {
    return this.get(HEALTH_PORT, path);
  }

  metricsServer(path: string): Promise<HttpAnswer> {
    return this.get(METRICS_PORT, path);
  }

  async get(port: number, path: string, ip = '127.0.0.1'): Promise<HttpAnswer> {
    const client = new HttpClient({ namespace: this.namespace, ip: ip as Ip, port });
    try {
      return await client.request({ method: 'GET', path });
    } finally {
      client.close();
    }
  }

  /** The samples of a metric. */
  async metric(name: string): Promise<readonly Sample[]> {
    const { text } = await this.metricsServer('/metrics');
    return parsePrometheusText(text).get(name)?.samples ?? [];
  }

  /** The cluster IPs in the kernel's rules, sorted. Empty if there is no table yet. */
  clusterIPs(family: Family): readonly string[] {
    return elementsOf(this.#list(family, 'set', 'cluster-ips'));
  }

  knows(clusterIP: string): boolean {
    return this.clusterIPs(familyOf(clusterIP as Ip)).includes(clusterIP);
  }

  /** The service CIDRs in the kernel's rules. */
  serviceCIDRs(family: Family): readonly string[] {
    return elementsOf(this.#list(family, 'set', 'service-cidrs'));
  }

  /** The endpoints that connections to a Service's address may reach, sorted. */
  endpointsOf(ip: string, port = 80): readonly string[] {
    const listed = this.#list(familyOf(ip as Ip), 'map', 'cluster-endpoints');
    const elements = [...listed.matchAll(/([0-9a-f.:]+) \. tcp \. (\d+) \. 0x[0-9a-f]+ : ([0-9a-f.:]+) \. (\d+)/g)];
    return elements
      .filter(([, serviceIp, servicePort]) => serviceIp === ip && Number(servicePort) === port)
      .map(([, , , endpoint = '']) => endpoint)
      .sort();
  }

  hasTables(): boolean {
    return nft(this.namespace, 'list', 'tables').includes('kube-proxy');
  }

  async close(): Promise<void> {
    await Promise.all(this.#pods.map(pod => pod.close()));
  }

  #list(family: Family, kind: 'set' | 'map', name: string): string {
    if (!this.hasTables()) return '';
    return nft(this.namespace, 'list', kind, family === 'IPv4' ? 'ip' : 'ip6', 'kube-proxy', name);
  }
}

/** The elements of a set of addresses, without their comments. */
function elementsOf(listed: string): string[] {
  const [, elements = ''] = /elements = \{([^}]*)\}/.exec(listed) ?? [];
  return elements
    .split(',')
    .map(element => element.trim().split(' ')[0] ?? '')
    .filter(Boolean)
    .sort();
}
