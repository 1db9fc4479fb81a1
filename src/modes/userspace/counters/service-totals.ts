import type { Family } from '../../../net/index.ts';
import { advanced, type Total } from '../../../observe/metrics/index.ts';
import type { ServiceCounters } from './service-counters.ts';

export type Counted = 'connections' | 'bytesIn' | 'bytesOut' | 'dialFailures' | 'failures';

interface ShownName {
  readonly family: Family;
  /** `namespace/name`. Undefined for the sum of all service ports of the family that are not named. */
  readonly service: string | undefined;
  readonly port: string;
  readonly protocol: string;
}

/** A service port that is shown by name, or the sum of all others of a family. */
export interface ShownService extends ShownName {
  readonly active: number;
  readonly totals: Readonly<Record<Counted, Total>>;
}

type Sums = Readonly<Record<Counted | 'active', number>>;

/**
 * The counters of a limited number of service ports by name, and of all others together. Totals never decrease. A
 * service port that has a name keeps it as long as it exists.
 */
export class ServiceTotals {
  readonly #max: number;
  #shown: ReadonlyMap<string, ShownService> = new Map();

  constructor(max: number) {
    this.#max = max;
  }

  get shown(): ReadonlyMap<string, ShownService> {
    return this.#shown;
  }

  /** Takes all counters as they are now. */
  take(counters: readonly ServiceCounters[]): void {
    const named = this.#choose(counters);
    const shown = new Map<string, ShownService>();
    const others = new Map<Family, Sums>();
    for (const counter of counters) {
      const id = idOf(counter);
      if (named.has(id)) shown.set(id, this.#advance(id, counter, counter));
      else others.set(counter.family, plus(others.get(counter.family), counter));
    }
    for (const [family, sums] of others) {
      const id = `${family} other`;
      shown.set(id, this.#advance(id, { family, service: undefined, port: '', protocol: '' }, sums));
    }
    // The sum of the others stays although each of them has a name by now or is gone.
    for (const [id, before] of this.#shown) {
      if (before.service === undefined && !shown.has(id)) shown.set(id, this.#advance(id, before, ZERO));
    }
    this.#shown = shown;
  }

  /** Free names go to the service ports with most connections. A service port without any needs no name. */
  #choose(counters: readonly ServiceCounters[]): ReadonlySet<string> {
    const rank = (counter: ServiceCounters) => (this.#shown.has(idOf(counter)) ? 0 : 1);
    const busy = counters.filter(counter => rank(counter) === 0 || counter.connections + counter.failures > 0);
    busy.sort((a, b) => rank(a) - rank(b) || b.connections - a.connections);
    return new Set(busy.slice(0, this.#max).map(idOf));
  }

  #advance(id: string, { family, service, port, protocol }: ShownName, sums: Sums): ShownService {
    const before = this.#shown.get(id)?.totals;
    const total = (kind: Counted) => advanced(before?.[kind], sums[kind]);
    return {
      family,
      service,
      port,
      protocol,
      active: sums.active,
      totals: {
        connections: total('connections'),
        bytesIn: total('bytesIn'),
        bytesOut: total('bytesOut'),
        dialFailures: total('dialFailures'),
        failures: total('failures'),
      },
    };
  }
}

const ZERO: Sums = { connections: 0, bytesIn: 0, bytesOut: 0, dialFailures: 0, failures: 0, active: 0 };

function idOf({ family, service, port, protocol }: ServiceCounters): string {
  return `${family} ${service}:${port} ${protocol}`;
}

function plus(sums: Sums = ZERO, counter: Sums): Sums {
  return {
    connections: sums.connections + counter.connections,
    bytesIn: sums.bytesIn + counter.bytesIn,
    bytesOut: sums.bytesOut + counter.bytesOut,
    dialFailures: sums.dialFailures + counter.dialFailures,
    failures: sums.failures + counter.failures,
    active: sums.active + counter.active,
  };
}
