import type { Clock } from '../../lib/clock.ts';
import { BoundedReading } from '../../observe/metrics/index.ts';
import type { Mode } from '../mode.ts';
import type { ServicePortTraffic } from './service-port-traffic.ts';
import { SteadyTraffic } from './steady-traffic.ts';

const MIN_PAUSE_MS = 2000;

/** Reads the traffic of a mode for all callers: at most every two seconds, and in at most a twentieth of the time. */
export class TrafficReader {
  readonly #reading: BoundedReading;
  readonly #steady = new SteadyTraffic();
  #last: readonly ServicePortTraffic[] | undefined;

  constructor(mode: Pick<Mode, 'traffic'>, clock: Clock) {
    this.#reading = new BoundedReading(clock, () => this.#readNow(mode), MIN_PAUSE_MS);
  }

  /** Undefined if the mode does not count. If a reading fails, this is the one before. Sums never decrease. */
  async read(): Promise<readonly ServicePortTraffic[] | undefined> {
    await this.#reading.refresh();
    return this.#last;
  }

  async #readNow(mode: Pick<Mode, 'traffic'>): Promise<void> {
    try {
      const reading = await mode.traffic?.();
      if (reading) this.#last = await this.#steady.take(reading);
    } catch {
      // The next reading tries again.
    }
  }
}

/** The connections of each Service, by `ns/name`. A mode without counters that are quick to read has only its traffic. */
export async function connectionCounts(
  mode: Pick<Mode, 'connectionCounts'>,
  reader: TrafficReader,
): Promise<ReadonlyMap<string, number> | undefined> {
  if (mode.connectionCounts) {
    const counts = await mode.connectionCounts();
    if (counts) return counts;
  }
  const traffic = await reader.read();
  if (!traffic) return undefined;
  const counts = new Map<string, number>();
  for (const { service, connections = 0 } of traffic) {
    if (connections > 0) counts.set(service, (counts.get(service) ?? 0) + connections);
  }
  return counts;
}
