import type { Family, Ip } from '../net/index.ts';
import { ServiceHealth, type ServiceHealthFailure } from '../observe/health/index.ts';
import type { RunningProxy } from '../proxy/index.ts';
import { modeSettings } from '../proxy/index.ts';

export interface ServiceHealthPortsOptions {
  readonly proxy: RunningProxy;
  readonly healthy: () => boolean;
  readonly failed: (failure: ServiceHealthFailure) => void;
}

interface Listening {
  readonly addresses: string;
  readonly health: ServiceHealth;
}

/** Listens for load balancers on the health check node ports of what is programmed. */
export class ServiceHealthPorts {
  readonly #options: ServiceHealthPortsOptions;
  readonly #families = new Map<Family, Listening>();

  constructor(options: ServiceHealthPortsOptions) {
    this.#options = options;
  }

  /** After a sync of the family. */
  sync(family: Family): void {
    const { model } = this.#options.proxy.loop.state.family(family);
    const ports = model.healthCheckNodePorts;
    if (ports.size === 0 && !this.#families.has(family)) return;
    const health = this.#health(family);
    void health.syncServices(ports);
    health.syncEndpoints(new Map([...ports.keys()].map(service => [service, model.localReadyEndpoints(service)])));
  }

  close(): void {
    for (const { health } of this.#families.values()) health.close();
  }

  /** Where node ports are accepted the checks are; when that changes, all are opened anew. */
  #health(family: Family): ServiceHealth {
    const addresses = this.#addresses(family);
    const known = this.#families.get(family);
    if (known?.addresses === addresses.toString()) return known.health;
    known?.health.close();
    const { healthy, failed } = this.#options;
    const health = new ServiceHealth({ family, addresses, healthy, failed });
    this.#families.set(family, { addresses: addresses.toString(), health });
    return health;
  }

  #addresses(family: Family): 'all' | readonly Ip[] {
    const { loop, live } = this.#options.proxy;
    const { nodePortAddresses, nodePortIPs } = modeSettings(loop.state, family, live);
    return nodePortAddresses.matchAll ? 'all' : nodePortIPs;
  }
}
