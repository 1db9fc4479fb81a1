import { FAMILIES, type Family } from '../../../net/index.ts';
import { advanced, type Total } from '../../../observe/metrics/index.ts';
import type { FrontendConnections } from '../../frontend-connections.ts';

export interface ConnectionTotal {
  readonly family: Family;
  /** Undefined for the sum of all service ports that are not named. */
  readonly service: string | undefined;
  readonly port: string;
  readonly connections: number;
}

/**
 * Connections of a limited number of service ports by name, and of all others together. Totals never decrease: a
 * service port that has a name keeps it as long as it exists, and a counter that restarts or disappears takes nothing
 * away.
 */
export class ConnectionTotals {
  readonly #max: number;
  readonly #named = new Map<string, NamedTotal>();
  readonly #others = new Map<Family, Total>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes all counters as they are now. If the reading fails, nothing changes. */
  async take(counters: AsyncIterable<FrontendConnections>): Promise<void> {
    const sums = new Map<string, number>();
    const others = new Map<Family, number>([...this.#others.keys()].map(family => [family, 0]));
    const candidates = new Map<string, FrontendConnections>();
    const isFull = this.#named.size >= this.#max;
    for await (const counter of counters) {
      const { family, service, port, connections } = counter;
      const id = `${family} ${service}:${port}`;
      if (this.#named.has(id)) {
        add(sums, id, connections);
        continue;
      }
      add(others, family, connections);
      if (isFull || connections === 0) continue;
      const known = candidates.get(id)?.connections ?? 0;
      candidates.set(id, { ...counter, connections: known + connections });
    }
    this.#advanceNamed(sums);
    for (const { family, connections } of this.#name(candidates)) add(others, family, -connections);
    for (const [family, sum] of others) this.#others.set(family, advanced(this.#others.get(family), sum));
  }

  *totals(): Generator<ConnectionTotal> {
    for (const { family, service, port, total } of this.#named.values())
      yield { family, service, port, connections: total };
    for (const family of FAMILIES) {
      const others = this.#others.get(family);
      if (others) yield { family, service: undefined, port: '', connections: others.total };
    }
  }

  #advanceNamed(sums: ReadonlyMap<string, number>): void {
    for (const [id, named] of this.#named) {
      const sum = sums.get(id);
      if (sum === undefined) this.#named.delete(id);
      else this.#named.set(id, { ...named, ...advanced(named, sum) });
    }
  }

  /** Gives the free names to the service ports with most connections. */
  #name(candidates: ReadonlyMap<string, FrontendConnections>): readonly FrontendConnections[] {
    const free = this.#max - this.#named.size;
    const chosen = [...candidates].sort(([, a], [, b]) => b.connections - a.connections).slice(0, free);
    for (const [id, { family, service, port, connections }] of chosen) {
      this.#named.set(id, { family, service, port, ...advanced(undefined, connections) });
    }
    return chosen.map(([, candidate]) => candidate);
  }
}

interface NamedTotal extends Total {
  readonly family: Family;
  readonly service: string;
  readonly port: string;
}

function add<K>(sums: Map<K, number>, key: K, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
}
