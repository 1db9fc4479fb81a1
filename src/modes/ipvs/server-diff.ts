import type { IpvsChange as Change, DestinationKey, Service, ServiceKey } from '../../kernel/ipvs/index.ts';
import { joinHostPort } from '../../net/index.ts';
import { sameService, type VirtualServer } from './virtual-server.ts';

export interface KnownDestination extends DestinationKey {
  readonly weight: number;
  /** It is as we would have made it, its weight apart. */
  readonly isPlain: boolean;
}

/** A virtual server as the kernel has it, as far as we know. */
export interface KnownServer {
  readonly service: Service;
  /** By `address:port`. */
  readonly destinations: Map<string, KnownDestination>;
}

const WEIGHT = 1;

/** What brings a virtual server to what is wanted; those who are to leave take no more connections first. */
export function serverChanges(wanted: VirtualServer | undefined, known: KnownServer | undefined): readonly Change[] {
  if (!wanted) return known ? [{ kind: 'del-service', service: known.service.key }] : [];
  const { service } = wanted;
  const changes: Change[] = [];
  if (!known) changes.push({ kind: 'new-service', service });
  else if (!sameService(known.service, service)) changes.push({ kind: 'set-service', service });
  const names = new Set<string>();
  for (const { ip: address, port, text } of wanted.endpoints) {
    names.add(text);
    const there = known?.destinations.get(text);
    const destination = { address, port, weight: WEIGHT };
    if (!there) changes.push({ kind: 'new-dest', service: service.key, destination });
    else if (there.weight !== WEIGHT || !there.isPlain) {
      changes.push({ kind: 'set-dest', service: service.key, destination });
    }
  }
  for (const [name, destination] of known?.destinations ?? []) {
    if (!names.has(name)) changes.push(...leaving(service.key, destination));
  }
  return changes;
}

/**
 * Connections of UDP have no end to wait for, and an endpoint of SCTP is told at once by the loss of its heartbeats.
 */
export function isDrained(key: ServiceKey): boolean {
  return key.kind === 'address' && key.protocol === 'TCP';
}

function leaving(service: ServiceKey, { address, port, weight }: KnownDestination): readonly Change[] {
  const destination = { address, port };
  if (!isDrained(service)) return [{ kind: 'del-dest', service, destination }];
  return weight === 0 ? [] : [{ kind: 'set-dest', service, destination: { ...destination, weight: 0 } }];
}

/** Notes a change that the kernel made. */
export function applyChange(servers: Map<string, KnownServer>, id: string, change: Change): void {
  switch (change.kind) {
    case 'new-service':
      servers.set(id, { service: change.service, destinations: new Map() });
      return;
    case 'set-service':
      servers.set(id, { service: change.service, destinations: servers.get(id)?.destinations ?? new Map() });
      return;
    case 'del-service':
      servers.delete(id);
      return;
    case 'new-dest':
    case 'set-dest': {
      const { address, port, weight = WEIGHT } = change.destination;
      servers.get(id)?.destinations.set(joinHostPort(address, port), { address, port, weight, isPlain: true });
      return;
    }
    case 'del-dest':
      servers.get(id)?.destinations.delete(joinHostPort(change.destination.address, change.destination.port));
  }
}
