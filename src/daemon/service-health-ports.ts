import type { Family, Ip } from '../net/index.ts';
import { ServiceHealth, type ServiceHealthChange, type ServiceHealthFailure } from '../observe/health/index.ts';
import { modeSettings, type RunningProxy } from '../proxy/index.ts';

export interface ServiceHealthPortsOptions {
  readonly proxy: RunningProxy;
  readonly healthy: () => boolean;
  readonly onError: (failure: ServiceHealthFailure) => void;
  readonly onChange: (family: Family, change: ServiceHealthChange) => void;
}

interface FamilyPorts {
  readonly addresses: string;
  readonly health: ServiceHealth;
}

/** Answers the probes of load balancers on the `healthCheckNodePort` of each Service that is programmed. */
export class ServiceHealthPorts {
  readonly #options: ServiceHealthPortsOptions;
  readonly #families = new Map<Family, FamilyPorts>();

  constructor(options: ServiceHealthPortsOptions) {
    this.#options = options;
  }

  /** The caller calls this after each sync of the family. */
  sync(family: Family): void {
    const { model } = this.#options.proxy.loop.state.family(family);
    const ports = model.healthCheckNodePorts;
    if (ports.size === 0 && !this.#families.has(family)) return;
    const health = this.#healthOf(family);
    void health.syncServices(ports);
    health.syncEndpoints(new Map([...ports.keys()].map(service => [service, model.localReadyEndpoints(service)])));
  }

  close(): void {
    for (const { health } of this.#families.values()) health.close();
  }

  /** Listens at the addresses that accept node ports. Closes and opens all ports again when these addresses change. */
  #healthOf(family: Family): ServiceHealth {
    const addresses = this.#addresses(family);
    const current = this.#families.get(family);
    if (current?.addresses === addresses.toString()) return current.health;
    current?.health.close();
    const { healthy, onError, onChange } = this.#options;
    const health = new ServiceHealth({
      family,
      addresses,
      healthy,
      onError,
      onChange: change => onChange(family, change),
    });
    this.#families.set(family, { addresses: addresses.toString(), health });
    return health;
  }

  #addresses(family: Family): 'all' | readonly Ip[] {
    const { loop, live } = this.#options.proxy;
    const { nodePortAddresses, nodePortIPs } = modeSettings(loop.state, family, live);
    return nodePortAddresses.matchAll ? 'all' : nodePortIPs;
  }
}
