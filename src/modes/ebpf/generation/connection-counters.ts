import { FAMILIES, type Family } from '../../../net/index.ts';
import type { FrontendConnections } from '../../frontend-connections.ts';
import type { Generation } from './generation.ts';
import type { PlacedPort } from './placed-port.ts';

/** What programs counted, for each service port. It outlives generations. */
export class ConnectionCounters {
  /** What generations that are closed counted, by plan id. */
  readonly #closed: Readonly<Record<Family, Map<string, FrontendConnections>>> = { IPv4: new Map(), IPv6: new Map() };

  *read(generation: Generation | undefined): Generator<FrontendConnections> {
    const sums = generation?.maps.get('counts')?.sums() ?? [];
    for (const family of FAMILIES) {
      // While nothing is served the counts stand still.
      if (!generation) yield* this.#closed[family].values();
      else if (sums.length > 0) for (const placed of generation.ports(family).values()) yield this.#sumOf(placed, sums);
    }
  }

  /** The generation is about to be closed. Service ports that are gone are forgotten. */
  carryOver(generation: Generation): void {
    const sums = generation.maps.get('counts')?.sums();
    if (!sums) return;
    for (const family of FAMILIES) {
      const closed = this.#closed[family];
      const ports = generation.ports(family);
      for (const id of closed.keys()) if (!ports.has(id)) closed.delete(id);
      for (const [id, placed] of ports) closed.set(id, this.#sumOf(placed, sums));
    }
  }

  #sumOf({ family, port, counter }: PlacedPort, sums: readonly number[]): FrontendConnections {
    const { id, service, portName } = port;
    const connections = (this.#closed[family].get(id)?.connections ?? 0) + (sums[counter] ?? 0);
    return { family, service, port: portName, connections };
  }
}
