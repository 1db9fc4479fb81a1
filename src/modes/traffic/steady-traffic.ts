import { Breaks } from '../../lib/breaks.ts';
import { FIGURES, SUMS, trafficId } from './figures.ts';
import type { ServicePortTraffic, TrafficFigures } from './service-port-traffic.ts';

/** A reading of something, and its sums so far. */
interface Steady {
  readonly last: TrafficFigures;
  readonly total: TrafficFigures;
}

interface SteadyPort extends Steady {
  readonly endpoints: ReadonlyMap<string, Steady> | undefined;
}

/**
 * Makes sums that never decrease out of the kernel's counters. A counter begins anew when a rule or an element is written
 * again. Service ports and endpoints that a reading does not have are forgotten.
 */
export class SteadyTraffic {
  #ports: ReadonlyMap<string, SteadyPort> = new Map();

  async take(reading: readonly ServicePortTraffic[]): Promise<readonly ServicePortTraffic[]> {
    const breaks = new Breaks();
    const ports = new Map<string, SteadyPort>();
    const steady: ServicePortTraffic[] = [];
    for (const traffic of reading) {
      const { family, service, port } = traffic;
      const id = trafficId(traffic);
      const advanced = advancedPort(this.#ports.get(id), traffic);
      ports.set(id, advanced);
      steady.push({ family, service, port, ...advanced.total, endpoints: totals(advanced.endpoints) });
      if (breaks.isDue) await breaks.take();
    }
    this.#ports = ports;
    return steady;
  }
}

function advancedPort(before: SteadyPort | undefined, traffic: ServicePortTraffic): SteadyPort {
  const endpoints =
    traffic.endpoints &&
    new Map(Array.from(traffic.endpoints, ([text, now]) => [text, advanced(before?.endpoints?.get(text), now)]));
  return { ...advanced(before, traffic), endpoints };
}

function advanced(before: Steady | undefined, now: TrafficFigures): Steady {
  const last: { -readonly [kind in keyof TrafficFigures]: number } = {};
  for (const kind of FIGURES) {
    const value = now[kind];
    if (value !== undefined) last[kind] = value;
  }
  const total = { ...last };
  for (const kind of SUMS) {
    const value = last[kind];
    const sum = before?.total[kind];
    if (sum === undefined) continue;
    const known = before?.last[kind] ?? 0;
    // A smaller sum means that a counter is gone or began anew. Then the total stays, because the increase is unknown.
    total[kind] = sum + Math.max(0, (value ?? known) - known);
  }
  return { last, total };
}

function totals(endpoints: ReadonlyMap<string, Steady> | undefined): ServicePortTraffic['endpoints'] {
  return endpoints && new Map(Array.from(endpoints, ([text, { total }]) => [text, total]));
}
