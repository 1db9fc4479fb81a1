import { KernelError } from '../../src/kernel/errors.ts';
import {
  type DestinationEntry,
  type IpvsChange,
  printChange,
  printKey,
  type Service,
  type ServiceEntry,
  type ServiceKey,
} from '../../src/kernel/ipvs/index.ts';
import type { Refusal } from '../../src/kernel/netlink/index.ts';
import { type Ip, joinHostPort } from '../../src/net/index.ts';

interface Server {
  readonly service: ServiceEntry;
  readonly destinations: Map<string, { readonly address: Ip; readonly port: number; readonly weight: number }>;
}

/** Virtual servers in memory. The test sets how many connections each real server has. */
export class FakeIpvs {
  /** The requests, as lines of ipvsadm. */
  readonly requests: string[] = [];
  /** The connections of each real server, by `-t ip:port ip:port`. */
  readonly connections = new Map<string, { readonly active: number; readonly inactive: number }>();
  /** Schedulers that this kernel does not have. */
  readonly missingSchedulers = new Set<string>();
  readonly #servers = new Map<string, Server>();

  services(): readonly ServiceEntry[] {
    return [...this.#servers.values()].map(({ service }) => service);
  }

  service(key: ServiceKey): ServiceEntry | undefined {
    return this.#servers.get(printKey(key))?.service;
  }

  destinations(key: ServiceKey): readonly DestinationEntry[] {
    const id = printKey(key);
    return [...(this.#servers.get(id)?.destinations ?? [])].map(([name, destination]) => {
      const { active = 0, inactive = 0 } = this.connections.get(`${id} ${name}`) ?? {};
      return {
        ...destination,
        forward: 'masq',
        upperThreshold: 0,
        lowerThreshold: 0,
        activeConnections: active,
        inactiveConnections: inactive,
        persistentConnections: 0,
        stats: undefined,
      };
    });
  }

  async apply(changes: readonly IpvsChange[]): Promise<readonly Refusal<IpvsChange>[]> {
    return changes.flatMap(change => {
      this.requests.push(printChange(change));
      const errno = this.#change(change);
      return errno
        ? [{ item: change, error: new KernelError('KERNEL_REFUSED', { operation: printChange(change), errno }) }]
        : [];
    });
  }

  clear(): void {
    this.#servers.clear();
  }

  put(id: string, address: string, weight: number): void {
    const ip = address as Ip;
    this.#servers.get(id)?.destinations.set(joinHostPort(ip, 8080), { address: ip, port: 8080, weight });
  }

  remove(id: string, name: string): void {
    this.#servers.get(id)?.destinations.delete(name);
  }

  #change(change: IpvsChange): string | undefined {
    switch (change.kind) {
      case 'new-service':
      case 'set-service':
        return this.#setService(change.kind, change.service);
      default:
        return this.#changeServer(change);
    }
  }

  #changeServer(change: Exclude<IpvsChange, { readonly service: Service }>): string | undefined {
    const id = printKey(change.service);
    const server = this.#servers.get(id);
    if (!server) return 'ESRCH';
    if (change.kind === 'del-service') {
      this.#servers.delete(id);
      return undefined;
    }
    const { address, port } = change.destination;
    const name = joinHostPort(address, port);
    const isThere = server.destinations.has(name);
    if (change.kind === 'new-dest' ? isThere : !isThere) return change.kind === 'new-dest' ? 'EEXIST' : 'ENOENT';
    if (change.kind === 'del-dest') server.destinations.delete(name);
    else server.destinations.set(name, { address, port, weight: change.destination.weight ?? 1 });
    return undefined;
  }

  #setService(kind: 'new-service' | 'set-service', service: Service): string | undefined {
    const id = printKey(service.key);
    const there = this.#servers.get(id);
    if (kind === 'new-service' ? there : !there) return there ? 'EEXIST' : 'ESRCH';
    if (this.missingSchedulers.has(service.scheduler)) return 'ENOENT';
    const { key, scheduler, flags = 0, timeout = 0 } = service;
    const entry = { key, scheduler, flags, timeout, netmask: 0, persistenceEngine: undefined, stats: undefined };
    this.#servers.set(id, { service: entry, destinations: there?.destinations ?? new Map() });
    return undefined;
  }
}
