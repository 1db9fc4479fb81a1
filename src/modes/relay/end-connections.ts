import { Breaks } from '../../lib/breaks.ts';
import { type EndedEndpoint, endedPortName } from '../../plan/index.ts';
import type { RelayResources } from './relay-resources.ts';

/** Resets both sides of the relayed connections to these endpoints. Returns how many each endpoint had. */
export async function endConnections(
  resources: RelayResources | undefined,
  ended: readonly EndedEndpoint[],
): Promise<ReadonlyMap<EndedEndpoint, number>> {
  const byName = new Map(ended.map(one => [`${endedPortName(one)} ${one.endpoint.text}`, one]));
  const counts = new Map<EndedEndpoint, number>();
  const breaks = new Breaks();
  for (const connection of [...(resources?.connections ?? [])]) {
    const endpoint = byName.get(`${connection.servicePort} ${connection.endpoint}`);
    if (!endpoint) continue;
    connection.break();
    counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
    if (breaks.isDue) await breaks.take();
  }
  return counts;
}
