import type { Family } from '../../../net/index.ts';
import { advanced, type Total } from '../../../observe/metrics/total.ts';
import type { ServiceCounters } from '../../index.ts';

export const COUNTED = ['connections', 'bytesIn', 'bytesOut', 'dialFailures', 'failures'] as const;
export type Counted = (typeof COUNTED)[number];

/** A service port that is shown one by one, or all others of a family. */
export interface ShownService {
  readonly family: Family;
  /** Undefined: all others. */
  readonly servicePort: string | undefined;
  readonly protocol: string;
  readonly active: number;
  readonly totals: Readonly<Record<Counted, Total>>;
}

type Sums = Record<Counted | 'active', number>;

/**
 * Counters of service ports as they are shown: at most so many one by one, the rest together. They never go back, and who
 * was shown one by one stays so as long as it exists.
 */
export class ServiceTotals {
  readonly #most: number;
  shown: ReadonlyMap<string, ShownService> = new Map();

  constructor(most: number) {
    this.#most = most;
  }

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
      shown.set(id, this.#advance(id, { family, servicePort: undefined, protocol: '' }, sums));
    }
    // What others had goes on counting, though all of them are named now or gone.
    for (const [id, before] of this.shown) {
      if (before.servicePort === undefined && !shown.has(id)) shown.set(id, this.#advance(id, before, NOTHING));
    }
    this.shown = shown;
  }

  /** Free names go to those with most connections; who never had one needs none. */
  #choose(counters: readonly ServiceCounters[]): ReadonlySet<string> {
    const rank = (counter: ServiceCounters) => (this.shown.has(idOf(counter)) ? 0 : 1);
    const busy = counters.filter(counter => rank(counter) === 0 || counter.connections + counter.failures > 0);
    busy.sort((a, b) => rank(a) - rank(b) || b.connections - a.connections);
    return new Set(busy.slice(0, this.#most).map(idOf));
  }

  #advance(id: string, names: Pick<ShownService, 'family' | 'servicePort' | 'protocol'>, sums: Sums): ShownService {
    const before = this.shown.get(id)?.totals;
    const total = (kind: Counted) => advanced(before?.[kind], sums[kind]);
    const { family, servicePort, protocol } = names;
    return {
      family,
      servicePort,
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

const NOTHING: Sums = { connections: 0, bytesIn: 0, bytesOut: 0, dialFailures: 0, failures: 0, active: 0 };

function idOf({ family, servicePort, protocol }: ServiceCounters): string {
  return `${family} ${servicePort} ${protocol}`;
}

function plus(sums: Sums = NOTHING, counter: Sums): Sums {
  return {
    connections: sums.connections + counter.connections,
    bytesIn: sums.bytesIn + counter.bytesIn,
    bytesOut: sums.bytesOut + counter.bytesOut,
    dialFailures: sums.dialFailures + counter.dialFailures,
    failures: sums.failures + counter.failures,
    active: sums.active + counter.active,
  };
}
