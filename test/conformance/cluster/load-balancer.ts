import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { NetworkNamespace } from '../../../src/kernel/netns.ts';
import type { Ip } from '../../../src/net/index.ts';
import { HttpClient } from '../../control-plane/http-client.ts';
import { CONTROL_PLANE, NODES, OUTSIDE_IP } from './addresses.ts';
import { type BalancedService, healthCheckOf, isBalanced, LoadBalancerAddresses } from './load-balancer-addresses.ts';
import { run } from './run.ts';

const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const PAUSE_MS = 1000;

/**
 * Load balancers for Services. The network of the control plane stands for the world outside: it has a route to each
 * load balancer by way of the nodes whose health check answers. What reaches a node still has the address of the load
 * balancer, so that kube-proxy does the rest.
 */
export class LoadBalancer {
  readonly #namespace: NetworkNamespace;
  readonly #api: HttpClient;
  readonly #token: string;
  readonly #addresses = new LoadBalancerAddresses();
  readonly #routes = new Map<string, string>();
  readonly #running: Promise<void>;
  #isClosed = false;

  constructor(namespace: NetworkNamespace, kubeconfig: string) {
    this.#namespace = namespace;
    const { clusters, users } = JSON.parse(readFileSync(kubeconfig, 'utf8'));
    this.#token = users[0].user.token;
    const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString();
    this.#api = new HttpClient({ namespace, ip: CONTROL_PLANE.v4 as Ip, port: 6443, ca });
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    this.#api.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      // An object may change or vanish meanwhile. The next round sees it.
      await this.#update().catch(() => undefined);
      await delay(PAUSE_MS);
    }
  }

  async #update(): Promise<void> {
    const { items } = (await this.#ask('GET', '/api/v1/services')) as { readonly items: readonly BalancedService[] };
    const balanced = items.filter(isBalanced);
    for (const address of this.#addresses.forgetOthers(balanced)) this.#removeRoute(address);
    await Promise.all(items.map(service => (isBalanced(service) ? this.#balance(service) : this.#release(service))));
  }

  async #balance(service: BalancedService): Promise<void> {
    const { finalizers = [] } = service.metadata;
    if (!finalizers.includes(FINALIZER)) await this.#setFinalizers(service, [...finalizers, FINALIZER]);
    const address = this.#addresses.of(service);
    const health = await Promise.all(NODES.map(({ v4 }) => this.#isHealthy(v4, service)));
    const healthy = NODES.filter((_, index) => health[index]).map(({ v4 }) => v4);
    // Clients that must stay with an endpoint must also stay with a node.
    this.#route(address, service.spec.sessionAffinity === 'ClientIP' ? healthy.slice(0, 1) : healthy);
    if (service.status?.loadBalancer?.ingress?.[0]?.ip === address) return;
    await this.#setIngress(service, [{ ip: address, ipMode: 'VIP' }]);
  }

  async #release(service: BalancedService): Promise<void> {
    const { finalizers = [] } = service.metadata;
    if (!finalizers.includes(FINALIZER)) return;
    if (service.status?.loadBalancer?.ingress) await this.#setIngress(service, null);
    const others = finalizers.filter(name => name !== FINALIZER);
    await this.#setFinalizers(service, others.length > 0 ? others : null);
  }

  async #isHealthy(node: string, service: BalancedService): Promise<boolean> {
    const { port, path } = healthCheckOf(service);
    const client = new HttpClient({ namespace: this.#namespace, ip: node as Ip, port });
    try {
      return (await client.request({ method: 'GET', path })).status === 200;
    } catch {
      return false;
    } finally {
      client.close();
    }
  }

  #setFinalizers(service: BalancedService, finalizers: readonly string[] | null): Promise<unknown> {
    return this.#ask('PATCH', pathOf(service), { metadata: { finalizers } });
  }

  #setIngress(service: BalancedService, ingress: readonly object[] | null): Promise<unknown> {
    return this.#ask('PATCH', `${pathOf(service)}/status`, { status: { loadBalancer: { ingress } } });
  }

  #route(address: string, nodes: readonly string[]): void {
    const hops = nodes.map(node => `nexthop via ${node}`).join(' ');
    const route = hops ? `${address} src ${OUTSIDE_IP} ${hops}` : `blackhole ${address}`;
    if (this.#routes.get(address) === route) return;
    this.#removeRoute(address);
    this.#namespace.run(() => run('ip', ['route', 'replace', ...route.split(' ')]));
    this.#routes.set(address, route);
  }

  #removeRoute(address: string): void {
    const route = this.#routes.get(address);
    if (route === undefined) return;
    this.#routes.delete(address);
    const words = route.startsWith('blackhole') ? ['blackhole', address] : [address];
    this.#namespace.run(() => run('ip', ['route', 'del', ...words]));
  }

  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/merge-patch+json' };
    const { status, text } = await this.#api.request({ method, path, headers, body: body && JSON.stringify(body) });
    if (status !== 200) throw new Error(`${method} ${path}: status ${status}`);
    return JSON.parse(text);
  }
}

function pathOf({ metadata: { namespace, name } }: BalancedService): string {
  return `/api/v1/namespaces/${namespace}/services/${name}`;
}
