import { type Ip, isHostCidr } from '../../../net/index.ts';
import type { Frontend } from '../../../plan/index.ts';
import { portCauseOf, type SetAsideCause } from '../../set-aside.ts';
import type { PortReservations, Reservation } from './port-reservations.ts';
import type { RenderOptions } from './render-options.ts';

export interface ReservingPort {
  /** Identifies the service port. */
  readonly id: string;
  readonly protocol: 'TCP' | 'UDP';
  readonly machineIPs: ReadonlySet<Ip>;
  readonly nodePortRanges: RenderOptions['nodePortRanges'];
}

export interface ReservedFrontends {
  readonly frontends: readonly Frontend[];
  readonly reservations: readonly Reservation[];
  /** Why frontends are missing. */
  readonly cause: SetAsideCause | undefined;
}

/** Reserves the ports of this machine that a service port takes. Leaves out frontends whose ports it cannot have. */
export function reserveFrontends(
  ports: Pick<PortReservations, 'reserve'>,
  frontends: readonly Frontend[],
  port: ReservingPort,
): ReservedFrontends {
  const reservations: Reservation[] = [];
  let cause: SetAsideCause | undefined;
  const reserved = frontends.filter(frontend => {
    const wanted = reservationsOf(frontend, port);
    const errors = wanted.flatMap(reservation => ports.reserve(port.id, reservation) ?? []);
    // An address that this machine no longer has needs no reservation.
    const error = errors.find(({ errno }) => errno !== 'EADDRNOTAVAIL');
    if (error) cause = portCauseOf(error);
    else reservations.push(...wanted);
    return !error;
  });
  return { frontends: reserved, reservations, cause };
}

function reservationsOf({ ip, port }: Frontend, { protocol, machineIPs, nodePortRanges }: ReservingPort) {
  if (ip !== undefined) return machineIPs.has(ip) ? [{ protocol, ip, port }] : [];
  if (!nodePortRanges) return [{ protocol, ip: undefined, port }];
  const single = nodePortRanges.filter(isHostCidr);
  return single.map(({ address }) => ({ protocol, ip: address, port }));
}
