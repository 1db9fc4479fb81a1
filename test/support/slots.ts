import type { Endpoint } from '../../src/model/index.ts';
import { parseIp } from '../../src/net/index.ts';

/** Ready endpoints with different addresses, in the order of their text. */
export function numberedEndpoints(count: number): readonly Endpoint[] {
  const endpoints = Array.from({ length: count }, (_, i): Endpoint => {
    const number = i * 7 + 3;
    const ip = parseIp(`10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`);
    if (ip === undefined) throw new RangeError(`endpoint ${i} has no address`);
    return {
      ip,
      port: 8080,
      text: `${ip}:8080`,
      nodeName: undefined,
      isLocal: false,
      ready: true,
      serving: true,
      terminating: false,
      zone: undefined,
      weight: undefined,
      zoneHints: undefined,
      nodeHints: undefined,
    };
  });
  return endpoints.toSorted((a, b) => (a.text < b.text ? -1 : 1));
}

/** How often each value is in the list. */
export function countSlots<T>(slots: readonly T[]): ReadonlyMap<T, number> {
  const counts = new Map<T, number>();
  for (const slot of slots) counts.set(slot, (counts.get(slot) ?? 0) + 1);
  return counts;
}
