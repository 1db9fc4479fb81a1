import type { Family, Ip } from '../../../net/index.ts';
import type { NodeAddressKind, SocketPort } from '../render.ts';
import type { Generation } from './generation.ts';
import { Need } from './need.ts';
import type { PlacedPort, PortChange } from './placed-port.ts';

/** What changed in one family since the generation that serves now. If nothing serves: everything that it wants. */
export interface FamilyChanges {
  readonly family: Family;
  readonly ports: readonly PortChange[];
  readonly nodeAddresses: ReadonlyMap<Ip, NodeAddressKind>;
}

/** Everything that one family has in the maps of a new generation. The former generation has the rest. */
export interface FamilyContents {
  readonly family: Family;
  /** Service ports of the former generation that the new one does not have, or has in another version. */
  readonly dropped: ReadonlySet<PlacedPort>;
  /** Service ports that get numbers. */
  readonly added: readonly SocketPort[];
  /** Of all service ports of the new generation. */
  readonly need: Need;
  readonly nodeAddresses: ReadonlyMap<Ip, NodeAddressKind>;
}

/** Looks only at service ports that changed, because there may be very many others. */
export function contentsAfter(changes: FamilyChanges, former: Generation | undefined): FamilyContents {
  const { family, nodeAddresses } = changes;
  const need = former?.need(family).copy() ?? new Need();
  const dropped = new Set<PlacedPort>();
  const added: SocketPort[] = [];
  for (const { id, to } of changes.ports) {
    const from = former?.ports(family).get(id);
    if (from) {
      dropped.add(from);
      need.remove(from.port);
    }
    if (!to) continue;
    added.push(to);
    need.add(to);
  }
  return { family, dropped, added, need, nodeAddresses };
}

/** The same service ports. All of them get numbers. */
export function withNewNumbers(contents: FamilyContents, former: Generation | undefined): FamilyContents {
  if (!former) return contents;
  const added = keptPorts(contents, former).map(({ port }) => port);
  return { ...contents, dropped: new Set(), added: [...added, ...contents.added] };
}

/** The service ports that both generations have. */
export function keptPorts({ family, dropped }: FamilyContents, former: Generation): readonly PlacedPort[] {
  const all = [...former.ports(family).values()];
  return dropped.size === 0 ? all : all.filter(placed => !dropped.has(placed));
}
