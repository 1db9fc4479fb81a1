import type { KernelError } from '../../../kernel/errors.ts';
import type { IpvsChange } from '../../../kernel/ipvs/index.ts';
import { joinHostPort } from '../../../net/index.ts';
import type { KnownDestination, KnownServer } from '../diff.ts';
import { WEIGHT } from '../wanted/weights.ts';
import type { RefusedObject } from './write-report.ts';

/** A virtual server of the mode. */
export interface OwnServer extends KnownServer {
  readonly destinations: Map<string, KnownDestination>;
}

/** A change of one virtual server, or of one of its real servers. */
export interface ServerChange {
  readonly id: string;
  readonly change: IpvsChange;
}

/** For summaries. */
export const ACTIONS: Readonly<Record<IpvsChange['kind'], string>> = {
  'new-service': 'added virtual server',
  'set-service': 'changed virtual server',
  'del-service': 'deleted virtual server',
  'new-dest': 'added real server',
  'set-dest': 'changed real server',
  'del-dest': 'deleted real server',
};

/** The kernel no longer has what it should delete. */
export function isGone({ kind }: IpvsChange, { errno = '' }: KernelError): boolean {
  return (kind === 'del-service' || kind === 'del-dest') && ['ESRCH', 'ENOENT'].includes(errno);
}

/** Notes a change that the kernel accepted. */
export function noteChange(servers: Map<string, OwnServer>, id: string, change: IpvsChange): void {
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

export function refusedBy(id: string, change: IpvsChange, error: KernelError): RefusedObject {
  return { id, error, isStale: isStale(change, error), missingScheduler: missingScheduler(change, error) };
}

function isStale({ kind }: IpvsChange, { errno = '' }: KernelError): boolean {
  return errno === 'EEXIST' || errno === 'ESRCH' || (errno === 'ENOENT' && kind === 'set-dest');
}

/** ENOENT for a virtual server means that the kernel has no such scheduler. */
function missingScheduler(change: IpvsChange, { errno }: KernelError): string | undefined {
  if (change.kind !== 'new-service' && change.kind !== 'set-service') return undefined;
  return errno === 'ENOENT' ? change.service.scheduler : undefined;
}
