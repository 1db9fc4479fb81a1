import { FAMILIES, type Family } from '../../../net/index.ts';
import type { FrontendConnections } from '../../frontend-connections.ts';
import type { Generation } from './generation.ts';

type Totals = Readonly<Record<Family, ReadonlyMap<string, number>>>;

/** What programs counted, for each service port. It outlives generations. */
export class ConnectionCounters {
  /** What generations that are closed counted, by plan id. A reader may hold it while the next generation comes. */
  #closed: Totals = { IPv4: new Map(), IPv6: new Map() };

  *read(generation: Generation | undefined): Generator<FrontendConnections> {
    const closed = this.#closed;
    const sums = generation?.connectionSums();
    for (const family of FAMILIES) {
      if (!generation) {
        // While nothing is served the counts stand still.
        for (const [id, connections] of closed[family]) yield { family, ...namesOf(id), connections };
      } else if (sums) {
        for (const [id, { counter }] of generation.ports(family)) {
          yield { family, ...namesOf(id), connections: (closed[family].get(id) ?? 0) + (sums[counter] ?? 0) };
        }
      }
    }
  }

  /** The generation is about to be closed. Service ports that are gone are forgotten. */
  carryOver(generation: Generation): void {
    const sums = generation.connectionSums();
    if (!sums) return;
    const totals = (family: Family) => {
      const sum = new Map<string, number>();
      for (const [id, { counter }] of generation.ports(family)) {
        sum.set(id, (this.#closed[family].get(id) ?? 0) + (sums[counter] ?? 0));
      }
      return sum;
    };
    this.#closed = { IPv4: totals('IPv4'), IPv6: totals('IPv6') };
  }
}

/** `default/web:http/TCP` is the id of a plan. */
function namesOf(id: string): { readonly service: string; readonly port: string } {
  const name = id.slice(0, id.lastIndexOf('/'));
  const [service = '', port = ''] = name.split(':');
  return { service, port };
}
