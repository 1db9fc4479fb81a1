import { FAMILIES, type Family } from '../../../net/index.ts';
import type { FrontendConnections } from '../../frontend-connections.ts';
import type { Generation } from './generation.ts';
import type { PlacedPort } from './placed-port.ts';

type Totals = Readonly<Record<Family, Map<string, FrontendConnections>>>;

/** What programs counted, for each service port. It outlives generations. */
export class ConnectionCounters {
  /** What generations that are closed counted, by plan id. A reader may hold it while the next generation comes. */
  #closed: Totals = { IPv4: new Map(), IPv6: new Map() };

  *read(generation: Generation | undefined): Generator<FrontendConnections> {
    const closed = this.#closed;
    const sums = generation?.connectionSums();
    for (const family of FAMILIES) {
      // While nothing is served the counts stand still.
      if (!generation) yield* closed[family].values();
      else if (sums) for (const placed of generation.ports(family).values()) yield sumOf(placed, sums, closed);
    }
  }

  /** The sockets no longer serve the service port. If they serve it again, its counts begin at 0. */
  forget(family: Family, id: string): void {
    this.#closed[family].delete(id);
  }

  /** The generation is about to be closed. Service ports that are gone are forgotten. */
  carryOver(generation: Generation): void {
    const sums = generation.connectionSums();
    if (!sums) return;
    const closed = this.#closed;
    const totals = (family: Family) =>
      new Map(Array.from(generation.ports(family), ([id, placed]) => [id, sumOf(placed, sums, closed)]));
    this.#closed = { IPv4: totals('IPv4'), IPv6: totals('IPv6') };
  }
}

function sumOf({ family, port, counter }: PlacedPort, sums: readonly number[], closed: Totals): FrontendConnections {
  const { id, service, portName } = port;
  const connections = (closed[family].get(id)?.connections ?? 0) + (sums[counter] ?? 0);
  return { family, service, port: portName, connections };
}
