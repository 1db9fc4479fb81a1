import type { Family, Ip } from '../../../net/index.ts';
import type { NodeAddressKind, SocketPort } from '../render.ts';
import type { Generation } from './generation.ts';
import type { PlacedPort, PortChange } from './placed-port.ts';

/** What changed in one family since the generation that serves now. If nothing serves: everything that it wants. */
export interface FamilyChanges {
  readonly family: Family;
  readonly ports: readonly PortChange[];
  readonly nodeAddresses: ReadonlyMap<Ip, NodeAddressKind>;
}

/** Everything that one family has in the maps of a new generation. */
export interface FamilyContents {
  readonly family: Family;
  /** Service ports of the former generation, as they are there. */
  readonly kept: readonly PlacedPort[];
  /** Service ports that get numbers. */
  readonly added: readonly SocketPort[];
  /** The service ports that the former generation has in another version, or that are gone, by plan id. */
  readonly outdated: ReadonlySet<string>;
  readonly nodeAddresses: ReadonlyMap<Ip, NodeAddressKind>;
}

export function contentsAfter(
  { family, ports, nodeAddresses }: FamilyChanges,
  former: Generation | undefined,
): FamilyContents {
  const outdated = new Set<string>();
  const added: SocketPort[] = [];
  for (const { id, to } of ports) {
    if (former) outdated.add(id);
    if (to) added.push(to);
  }
  const kept: PlacedPort[] = [];
  if (former) for (const placed of former.ports(family).values()) if (!outdated.has(placed.port.id)) kept.push(placed);
  return { family, kept, added, outdated, nodeAddresses };
}

/** The same service ports. All of them get numbers. */
export function withNewNumbers({ kept, added, ...contents }: FamilyContents): FamilyContents {
  return { ...contents, kept: [], added: [...kept.map(({ port }) => port), ...added] };
}

export function* portsOf({ kept, added }: FamilyContents): Generator<SocketPort> {
  for (const { port } of kept) yield port;
  yield* added;
}
