import type { ReadConnections } from '../../frontend-connections.ts';
import { readWithRetries } from './read-with-retries.ts';

/** The connections of each Service that got some. Undefined if no attempt to read the counters succeeded. */
export function countByService(read: ReadConnections): Promise<ReadonlyMap<string, number> | undefined> {
  return readWithRetries(async () => {
    const counts = new Map<string, number>();
    for await (const { service, connections } of read()) {
      if (connections > 0) counts.set(service, (counts.get(service) ?? 0) + connections);
    }
    return counts;
  });
}
