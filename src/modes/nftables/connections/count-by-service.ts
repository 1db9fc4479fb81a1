import type { ReadConnections } from '../../frontend-connections.ts';

/** The kernel breaks a reading off when any program changes the ruleset. */
const ATTEMPTS = 3;

/** The connections of each Service that got some. Undefined if no attempt to read the counters succeeded. */
export async function countByService(read: ReadConnections): Promise<ReadonlyMap<string, number> | undefined> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const counts = new Map<string, number>();
    try {
      for await (const { service, connections } of read()) {
        if (connections > 0) counts.set(service, (counts.get(service) ?? 0) + connections);
      }
      return counts;
    } catch {
      // The next attempt reads again.
    }
  }
  return undefined;
}
