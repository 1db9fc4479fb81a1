import { errorText } from '../../lib/error-text.ts';
import { ANY_IP, type Family, type Ip } from '../../net/index.ts';
import { HttpServer, jsonAnswer, type Listen } from '../http/index.ts';

export interface ServiceHealthOptions {
  readonly family: Family;
  /** The addresses of this machine that accept node ports. `all` means every address of the family. */
  readonly addresses: 'all' | readonly Ip[];
  /** Whether the proxy is healthy. A node whose proxy is not must not get traffic. */
  readonly healthy: () => boolean;
  /** The proxy could not listen on the port of a Service. The next `syncServices` retries. */
  readonly onError: (failure: ServiceHealthFailure) => void;
  /** The port of a Service opens or closes, or its answer has another number of endpoints. */
  readonly onChange?: ((change: ServiceHealthChange) => void) | undefined;
  readonly listen?: Listen | undefined;
}

export interface ServiceHealthChange {
  readonly kind: 'opening' | 'closing' | 'endpoints';
  /** `namespace/name` */
  readonly service: string;
  readonly port: number;
  readonly localEndpoints: number;
}

export interface ServiceHealthFailure {
  /** `namespace/name` */
  readonly service: string;
  readonly port: number;
  readonly error: string;
}

interface Entry {
  readonly port: number;
  localEndpoints: number;
  readonly servers: HttpServer[];
  closed: boolean;
}

/**
 * Listens on the `healthCheckNodePort` of each Service of one family. Its answers show load balancers how many
 * endpoints of the Service are on this node.
 */
export class ServiceHealth {
  readonly #options: ServiceHealthOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: ServiceHealthOptions) {
    this.#options = options;
  }

  /**
   * Takes the port of each Service (`namespace/name`). Closes the listeners of Services that are gone or have another
   * port. Listens on new ports, with no endpoints until `syncEndpoints`. Resolves when each new listener is open or has
   * failed.
   */
  async syncServices(ports: ReadonlyMap<string, number>): Promise<void> {
    for (const [service, entry] of this.#entries) {
      if (ports.get(service) !== entry.port) this.#close(service, entry);
    }
    const added = [...ports].filter(([service]) => !this.#entries.has(service));
    await Promise.all(added.map(([service, port]) => this.#open(service, port)));
  }

  /** Takes the number of local endpoints of each Service. A Service that is not in the map has none. */
  syncEndpoints(counts: ReadonlyMap<string, number>): void {
    for (const [service, entry] of this.#entries) {
      const localEndpoints = counts.get(service) ?? 0;
      if (localEndpoints === entry.localEndpoints) continue;
      entry.localEndpoints = localEndpoints;
      this.#report('endpoints', service, entry);
    }
  }

  close(): void {
    for (const [service, entry] of this.#entries) this.#close(service, entry);
  }

  async #open(service: string, port: number): Promise<void> {
    const entry: Entry = { port, localEndpoints: 0, servers: [], closed: false };
    this.#entries.set(service, entry);
    this.#report('opening', service, entry);
    try {
      for (const ip of this.#addresses()) await this.#listen(service, entry, ip);
    } catch (error) {
      if (entry.closed) return;
      this.#close(service, entry);
      this.#options.onError({ service, port, error: errorText(error) });
    }
  }

  async #listen(service: string, entry: Entry, ip: Ip): Promise<void> {
    if (entry.closed) return;
    const server = await HttpServer.open({
      ip,
      port: entry.port,
      family: this.#options.family,
      handle: () => this.#answer(service, entry),
      listen: this.#options.listen,
      onError: () => this.#close(service, entry),
    });
    if (entry.closed) server.close();
    else entry.servers.push(server);
  }

  #report(kind: ServiceHealthChange['kind'], service: string, { port, localEndpoints }: Entry): void {
    this.#options.onChange?.({ kind, service, port, localEndpoints });
  }

  #close(service: string, entry: Entry): void {
    if (!entry.closed) this.#report('closing', service, entry);
    entry.closed = true;
    for (const server of entry.servers) server.close();
    if (this.#entries.get(service) === entry) this.#entries.delete(service);
  }

  #addresses(): readonly Ip[] {
    const { addresses, family } = this.#options;
    return addresses === 'all' ? [ANY_IP[family]] : addresses;
  }

  #answer(service: string, { localEndpoints }: Entry) {
    const healthy = this.#options.healthy();
    const [namespace = '', name = ''] = service.split('/');
    const body = { service: { namespace, name }, localEndpoints, serviceProxyHealthy: healthy };
    return jsonAnswer(healthy && localEndpoints > 0 ? 200 : 503, JSON.stringify(body, undefined, '\t'), {
      'X-Load-Balancing-Endpoint-Weight': String(localEndpoints),
    });
  }
}

/** The note of the Event about the failure, in upstream's words. */
export function serviceHealthNote(node: string, { service, port, error }: ServiceHealthFailure): string {
  return `node ${node} failed to start healthcheck "${service}" on port ${port}: ${error}`;
}
