import { FAMILIES, type Family } from '../../../net/index.ts';
import type { FrontendConnections } from '../../frontend-connections.ts';
import type { Generation } from './generation.ts';

/** What programs counted, for each service port. It outlives generations. */
export class ConnectionCounters {
  /** What generations that are closed counted, by plan id. */
  readonly #closed: Readonly<Record<Family, Map<string, number>>> = { IPv4: new Map(), IPv6: new Map() };

  *read(generation: Generation | undefined): Generator<FrontendConnections> {
    const sums = generation?.maps.get('counts')?.sums() ?? [];
    for (const family of FAMILIES) {
      if (!generation) yield* this.#readClosed(family);
      if (!generation || sums.length === 0) continue;
      for (const [id, { counter }] of generation.ports(family)) {
        const connections = (this.#closed[family].get(id) ?? 0) + (sums[counter] ?? 0);
        yield { family, ...namesOf(id), connections };
      }
    }
  }

  /** While nothing is served the counts stand still. */
  *#readClosed(family: Family): Generator<FrontendConnections> {
    for (const [id, connections] of this.#closed[family]) yield { family, ...namesOf(id), connections };
  }

  /** The generation is about to be closed. Service ports that are gone are forgotten. */
  carryOver(generation: Generation): void {
    const sums = generation.maps.get('counts')?.sums();
    if (!sums) return;
    for (const family of FAMILIES) {
      const closed = this.#closed[family];
      const ports = generation.ports(family);
      for (const id of closed.keys()) if (!ports.has(id)) closed.delete(id);
      for (const [id, { counter }] of ports) closed.set(id, (closed.get(id) ?? 0) + (sums[counter] ?? 0));
    }
  }
}

/** `default/web:http/TCP` is the id of a plan. */
function namesOf(id: string): { readonly service: string; readonly port: string } {
  const name = id.slice(0, id.lastIndexOf('/'));
  const [service = '', port = ''] = name.split(':');
  return { service, port };
}
