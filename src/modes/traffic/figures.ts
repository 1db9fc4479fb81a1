import { Breaks } from '../../lib/breaks.ts';
import type { ServicePortTraffic, TrafficFigures } from './service-port-traffic.ts';

/** The figures that only grow. */
export const SUMS = ['connections', 'packets', 'bytes', 'rejected', 'dropped'] as const;
export const FIGURES = [...SUMS, 'active'] as const;

/** The sum of both. A figure that only one of them has stays as it is. */
export function plusFigures(a: TrafficFigures | undefined, b: TrafficFigures): TrafficFigures {
  const sum: { -readonly [kind in keyof TrafficFigures]: number } = {};
  for (const kind of FIGURES) {
    const [one, other] = [a?.[kind], b[kind]];
    if (one !== undefined || other !== undefined) sum[kind] = (one ?? 0) + (other ?? 0);
  }
  return sum;
}

/** One id for each service port of a family. */
export function trafficId({ family, service, port }: Pick<ServicePortTraffic, 'family' | 'service' | 'port'>): string {
  return `${family} ${service}:${port}`;
}

/** Sums up the traffic of each service port, and of each of its endpoints. */
export async function sumOfTraffic(
  readings: Iterable<Iterable<ServicePortTraffic> | AsyncIterable<ServicePortTraffic>>,
): Promise<readonly ServicePortTraffic[]> {
  const breaks = new Breaks();
  const ports = new Map<string, ServicePortTraffic>();
  for (const reading of readings) {
    for await (const traffic of reading) {
      const id = trafficId(traffic);
      ports.set(id, plusTraffic(ports.get(id), traffic));
      if (breaks.isDue) await breaks.take();
    }
  }
  return [...ports.values()];
}

function plusTraffic(known: ServicePortTraffic | undefined, traffic: ServicePortTraffic): ServicePortTraffic {
  if (!known) return traffic;
  const { family, service, port } = traffic;
  const endpoints = plusEndpoints(known.endpoints, traffic.endpoints);
  return { family, service, port, ...plusFigures(known, traffic), endpoints };
}

function plusEndpoints(
  a: ServicePortTraffic['endpoints'],
  b: ServicePortTraffic['endpoints'],
): ServicePortTraffic['endpoints'] {
  if (!a || !b) return a ?? b;
  const sums = new Map(a);
  for (const [endpoint, figures] of b) sums.set(endpoint, plusFigures(sums.get(endpoint), figures));
  return sums;
}
