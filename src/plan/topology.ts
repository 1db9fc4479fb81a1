import type { Endpoint, NodeTopology } from '../model/index.ts';

/** Which of the ready endpoints this node uses. */
export type TopologyMode = 'any' | 'same-node' | 'same-zone';

/**
 * Hints count only if every ready endpoint has one and at least one names this node or zone. Otherwise some nodes would
 * overload the few endpoints with a hint, or would have no endpoint. Hints for nodes go before hints for zones.
 */
export function topologyMode(ready: readonly Endpoint[], node: NodeTopology): TopologyMode {
  if (ready.length === 0) return 'any';
  if (isHinted(ready, endpoint => endpoint.nodeHints, node.name)) return 'same-node';
  if (node.zone !== '' && isHinted(ready, endpoint => endpoint.zoneHints, node.zone)) return 'same-zone';
  return 'any';
}

export function isAvailable(endpoint: Endpoint, mode: TopologyMode, node: NodeTopology): boolean {
  switch (mode) {
    case 'any':
      return true;
    case 'same-node':
      return endpoint.nodeHints?.includes(node.name) ?? false;
    case 'same-zone':
      return endpoint.zoneHints?.includes(node.zone) ?? false;
  }
}

function isHinted(
  ready: readonly Endpoint[],
  hints: (endpoint: Endpoint) => readonly string[] | undefined,
  place: string,
): boolean {
  let hasOwn = false;
  for (const endpoint of ready) {
    const places = hints(endpoint);
    if (places === undefined) return false;
    hasOwn ||= places.includes(place);
  }
  return hasOwn;
}
