import type { TrafficPolicy } from '../../../api/index.ts';
import type { Family, Ip } from '../../../net/index.ts';
import { planName, type ServicePortPlan, slotsOf } from '../../../plan/index.ts';
import type { PinnedClient } from '../../read-back.ts';
import {
  Balancer,
  type ListenerOptions,
  newCounters,
  type ProxyCounters,
  type RelayResources,
  TcpListener,
  UdpListener,
} from '../../relay/index.ts';
import type { TrafficFigures } from '../../traffic/index.ts';
import type { ProxyPorts } from '../render.ts';
import type { PortAllocator } from './port-allocator.ts';

interface OpenListener {
  readonly listener: TcpListener | UdpListener;
  /** The port that the allocator gave; 0 if the kernel chose one. */
  readonly allocatedPort: number;
}

export interface ServiceProxyOptions {
  readonly resources: RelayResources;
  readonly ports: PortAllocator;
  readonly family: Family;
  readonly listenIP: Ip;
}

/** The proxy of one service port: a balancer, and a listener for the traffic of each policy. */
export class ServiceProxy {
  readonly #options: ServiceProxyOptions;
  readonly #balancer: Balancer;
  readonly #counters = newCounters();
  readonly #listeners = new Map<TrafficPolicy, OpenListener>();

  constructor(options: ServiceProxyOptions) {
    this.#options = options;
    this.#balancer = new Balancer({ clock: options.resources.options.clock });
  }

  get counters(): ProxyCounters {
    return { ...this.#counters };
  }

  /** What went through the proxy, by text of the endpoint. Endpoints that left the plan are not in it. */
  endpointFigures(): ReadonlyMap<string, TrafficFigures> {
    return new Map(
      Array.from(this.#balancer.backends, ({ text, connections, active, bytes }) => [
        text,
        { connections, active, bytes },
      ]),
    );
  }

  /** The ports at which listeners are open. */
  get openPorts(): ProxyPorts {
    return Object.fromEntries(Array.from(this.#listeners, ([policy, { listener }]) => [policy, listener.port]));
  }

  get openCount(): number {
    return this.#listeners.size;
  }

  pinnedClients(limit: number): readonly PinnedClient[] {
    return this.#balancer.pinnedClients(limit);
  }

  /** Takes the endpoints, the affinity and the balance of a plan. */
  update(plan: ServicePortPlan): void {
    const { port, endpoints, balance } = plan;
    this.#balancer.configure(balance?.algorithm, port.affinitySeconds, balance?.hashBy);
    const gone = this.#balancer.setEndpoints(endpoints, slotsOf(plan));
    if (gone.length === 0) return;
    for (const { listener } of this.#listeners.values()) if (listener instanceof UdpListener) listener.endpointsGone();
  }

  /** Opens the listeners that are missing. Throws if there is no port for one. */
  open(plan: ServicePortPlan, policies: ReadonlySet<TrafficPolicy>): ProxyPorts {
    for (const policy of policies) {
      if (!this.#listeners.has(policy)) this.#listeners.set(policy, this.#listen(plan, policy));
    }
    return Object.fromEntries([...policies].map(policy => [policy, this.#listeners.get(policy)?.listener.port]));
  }

  /** Closes the listeners to which no rule leads any more. */
  closeExcept(policies: ReadonlySet<TrafficPolicy>): void {
    for (const [policy, { listener, allocatedPort }] of this.#listeners) {
      if (policies.has(policy)) continue;
      listener.close();
      this.#options.ports.release(allocatedPort);
      this.#listeners.delete(policy);
    }
  }

  /** Accepts nothing more. TCP connections go on; UDP clients end. */
  close(): void {
    this.closeExcept(new Set());
  }

  /** Forgets clients whose affinity has ended. */
  expireAffinity(): void {
    this.#balancer.expireAffinity();
  }

  #listen(plan: ServicePortPlan, policy: TrafficPolicy): OpenListener {
    const { resources, family, listenIP: ip } = this.#options;
    const options: ListenerOptions = {
      resources,
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
    return { listener: opened, allocatedPort: port };
  }
}
