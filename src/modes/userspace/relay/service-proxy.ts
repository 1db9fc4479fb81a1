import type { TrafficPolicy } from '../../../api/index.ts';
import type { Family, Ip } from '../../../net/index.ts';
import { planName, type ServicePortPlan } from '../../../plan/index.ts';
import { Balancer } from './balancer.ts';
import { newCounters, type PortCounters } from '../counters/service-counters.ts';
import type { PortAllocator } from './port-allocator.ts';
import type { ProxyPorts } from '../render.ts';
import { type ListenerOptions, TcpListener } from './tcp-listener.ts';
import type { Traffic } from './relay-resources.ts';
import { UdpListener } from './udp-listener.ts';

interface Opened {
  readonly listener: TcpListener | UdpListener;
  /** To be given back to the allocator. */
  readonly port: number;
}

export interface ServiceProxyOptions {
  readonly traffic: Traffic;
  readonly ports: PortAllocator;
  readonly family: Family;
  readonly listenIP: Ip;
}

/** The proxy of one service port: a listener for traffic of each policy, and what chooses among endpoints. */
export class ServiceProxy {
  readonly #options: ServiceProxyOptions;
  readonly #balancer: Balancer;
  readonly #counters = newCounters();
  readonly #opened = new Map<TrafficPolicy, Opened>();

  constructor(options: ServiceProxyOptions) {
    this.#options = options;
    this.#balancer = new Balancer({ clock: options.traffic.options.clock });
  }

  get counters(): PortCounters {
    return { ...this.#counters };
  }

  /** Takes endpoints, affinity and balance of a plan. Returns whether endpoints are gone. */
  update({ port, endpoints }: ServicePortPlan): boolean {
    this.#balancer.configure(port.balance, port.affinitySeconds);
    const gone = this.#balancer.setEndpoints(endpoints);
    if (gone.length === 0) return false;
    for (const { listener } of this.#opened.values()) if (listener instanceof UdpListener) listener.endpointsGone();
    return true;
  }

  /** Opens what is not open yet. Throws if there is no port for it. */
  open(plan: ServicePortPlan, policies: ReadonlySet<TrafficPolicy>): ProxyPorts {
    for (const policy of policies) {
      if (!this.#opened.has(policy)) this.#opened.set(policy, this.#listen(plan, policy));
    }
    return Object.fromEntries([...policies].map(policy => [policy, this.#opened.get(policy)?.listener.port]));
  }

  /** Clients of UDP that have an endpoint. */
  get udpClients(): number {
    let clients = 0;
    for (const { listener } of this.#opened.values()) if (listener instanceof UdpListener) clients += listener.clients;
    return clients;
  }

  /** Closes listeners that no rule leads to any more. */
  closeExcept(policies: ReadonlySet<TrafficPolicy>): void {
    for (const [policy, { listener, port }] of this.#opened) {
      if (policies.has(policy)) continue;
      listener.close();
      this.#options.ports.release(port);
      this.#opened.delete(policy);
    }
  }

  /** Takes nothing more. TCP connections go on; clients of UDP are forgotten. */
  close(): void {
    this.closeExcept(new Set());
  }

  /** Forgets clients that were away for longer than affinity lasts. */
  expire(): void {
    this.#balancer.expire();
  }

  #listen(plan: ServicePortPlan, policy: TrafficPolicy): Opened {
    const { traffic, family, listenIP: ip } = this.#options;
    const options: ListenerOptions = {
      traffic,
      family,
      ip,
      policy,
      balancer: this.#balancer,
      counters: this.#counters,
      name: planName(plan),
    };
    const isUdp = plan.port.protocol === 'UDP';
    const { port, opened } = this.#options.ports.open(number =>
      isUdp ? new UdpListener(options, number) : new TcpListener(options, number),
    );
    return { listener: opened, port };
  }
}
