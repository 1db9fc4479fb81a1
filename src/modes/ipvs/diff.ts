import type { Element } from '../../kernel/ipset/index.ts';
import type { DestinationKey, IpvsChange, Service, ServiceKey } from '../../kernel/ipvs/index.ts';
import { SET_KEYS, type SetKey } from './names.ts';
import { sameService, type VirtualServer } from './wanted/virtual-server.ts';
import type { ElementNames, ObjectNames, WantedObjects } from './wanted/wanted-objects.ts';
import { weightOf } from './wanted/weights.ts';

/** A real server as the kernel has it. */
export interface KnownDestination extends DestinationKey {
  readonly weight: number;
  /** Apart from its weight, it is as the mode makes real servers. */
  readonly isPlain: boolean;
}

/** A virtual server as the kernel has it. */
export interface KnownServer {
  readonly service: Service;
  /** By `address:port`. */
  readonly destinations: ReadonlyMap<string, KnownDestination>;
}

/** The elements that the kernel has, by name. */
export type KnownElements = ReadonlyMap<SetKey, ReadonlyMap<string, Element>>;

/** The objects that the kernel has, as far as the mode knows. */
export interface KnownObjects {
  readonly elements: KnownElements;
  /** The addresses of kube-ipvs0. */
  readonly addresses: ReadonlySet<string>;
  /** The mode's own virtual servers, by id. */
  readonly servers: ReadonlyMap<string, KnownServer>;
}

/** Elements of one set that a write adds or deletes. */
export interface ElementBatch {
  readonly set: SetKey;
  readonly elements: readonly Element[];
}

/** The names of everything that is wanted or known. */
export function allNames(wanted: WantedObjects, { elements, addresses, servers }: KnownObjects): ObjectNames {
  const names = new Map(
    SET_KEYS.map((set): [SetKey, Set<string>] => [
      set,
      new Set([...wanted.elementNames(set), ...(elements.get(set)?.keys() ?? [])]),
    ]),
  );
  for (const ip of addresses) names.get('ipvsIPs')?.add(ip);
  return { servers: new Set([...wanted.serverIds(), ...servers.keys()]), elements: names };
}

/** Changes one virtual server to what is wanted. A TCP real server that leaves first gets no new connections. */
export function serverChanges(
  wanted: VirtualServer | undefined,
  known: KnownServer | undefined,
): readonly IpvsChange[] {
  if (!wanted) return known ? [{ kind: 'del-service', service: known.service.key }] : [];
  const { service } = wanted;
  const changes: IpvsChange[] = [];
  if (!known) changes.push({ kind: 'new-service', service });
  else if (!sameService(known.service, service)) changes.push({ kind: 'set-service', service });
  const names = new Set<string>();
  for (const endpoint of wanted.endpoints) {
    const { ip: address, port, text } = endpoint;
    names.add(text);
    const present = known?.destinations.get(text);
    const weight = weightOf(endpoint, wanted.weights);
    const destination = { address, port, weight };
    if (!present) changes.push({ kind: 'new-dest', service: service.key, destination });
    else if (present.weight !== weight || !present.isPlain) {
      changes.push({ kind: 'set-dest', service: service.key, destination });
    }
  }
  for (const [name, destination] of known?.destinations ?? []) {
    if (!names.has(name)) changes.push(...leaving(service.key, destination));
  }
  return changes;
}

/**
 * Whether real servers that leave keep their connections. UDP has no end of a connection to wait for, and an SCTP
 * client notices at once that heartbeats are lost.
 */
export function isDrained(key: ServiceKey): boolean {
  return key.kind === 'address' && key.protocol === 'TCP';
}

/** The elements that are wanted and missing, of those that `names` has. */
export function elementsToAdd(names: ElementNames, wanted: WantedObjects, known: KnownElements): ElementBatch[] {
  return batches(names, (set, name) => (known.get(set)?.has(name) ? undefined : wanted.element(set, name)));
}

/** The elements that are present and not wanted, of those that `names` has. */
export function elementsToDelete(names: ElementNames, wanted: WantedObjects, known: KnownElements): ElementBatch[] {
  return batches(names, (set, name) => (wanted.element(set, name) ? undefined : known.get(set)?.get(name)));
}

export function addressesToAdd(names: Iterable<string>, wanted: WantedObjects, known: ReadonlySet<string>): string[] {
  return [...names].filter(name => wanted.element('ipvsIPs', name) && !known.has(name));
}

export function addressesToDelete(
  names: Iterable<string>,
  wanted: WantedObjects,
  known: ReadonlySet<string>,
): string[] {
  return [...names].filter(name => !wanted.element('ipvsIPs', name) && known.has(name));
}

function leaving(service: ServiceKey, { address, port, weight }: KnownDestination): readonly IpvsChange[] {
  const destination = { address, port };
  if (!isDrained(service)) return [{ kind: 'del-dest', service, destination }];
  return weight === 0 ? [] : [{ kind: 'set-dest', service, destination: { ...destination, weight: 0 } }];
}

function batches(names: ElementNames, select: (set: SetKey, name: string) => Element | undefined): ElementBatch[] {
  return Array.from(names, ([set, own]) => ({
    set,
    elements: [...own].flatMap(name => select(set, name) ?? []),
  })).filter(({ elements }) => elements.length > 0);
}
