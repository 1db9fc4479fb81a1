import { KernelError } from '../../../kernel/errors.ts';
import { closeRaw, openBound } from '../../../kernel/sockets/index.ts';
import { ANY_IP, type Family, type Ip } from '../../../net/index.ts';
import type { RelayResources } from '../../relay/index.ts';

/** A port of this machine whose connections a portal takes. */
export interface Reservation {
  readonly protocol: 'TCP' | 'UDP';
  /** Undefined for all addresses. */
  readonly ip: Ip | undefined;
  readonly port: number;
}

interface Held {
  readonly reservation: Reservation;
  readonly owners: Set<string>;
  /**
   * Undefined if our reservation of the port at all addresses keeps it too, or if another program took the port in the
   * moment when that reservation ended.
   */
  fd: number | undefined;
}

/**
 * Keeps other programs from listening at ports whose connections a portal takes. A reserved port is bound and does not
 * listen, so that the kernel refuses a connection that bypasses the rules of the portal at once.
 */
export class PortReservations {
  readonly #resources: RelayResources;
  readonly #family: Family;
  readonly #held = new Map<string, Held>();
  /** The keys of the reservations of each owner. */
  readonly #owned = new Map<string, Set<string>>();

  constructor(resources: RelayResources, family: Family) {
    this.#resources = resources;
    this.#family = family;
  }

  /** Returns why the port cannot be reserved; undefined if it is reserved. */
  reserve(owner: string, reservation: Reservation): KernelError | undefined {
    const key = keyOf(reservation);
    try {
      const held = this.#held.get(key) ?? { reservation, owners: new Set(), fd: undefined };
      held.fd ??= this.#bind(reservation);
      held.owners.add(owner);
      this.#held.set(key, held);
      const owned = this.#owned.get(owner) ?? new Set();
      this.#owned.set(owner, owned.add(key));
      return undefined;
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      return error;
    }
  }

  /** Ends all reservations of the owner but these. */
  releaseExcept(owner: string, kept: readonly Reservation[]): void {
    const owned = this.#owned.get(owner);
    if (!owned) return;
    const keys = new Set(kept.map(keyOf));
    for (const key of owned) {
      if (keys.has(key)) continue;
      owned.delete(key);
      this.#release(owner, key);
    }
    if (owned.size === 0) this.#owned.delete(owner);
  }

  close(): void {
    for (const held of this.#held.values()) this.#unbind(held);
    this.#held.clear();
    this.#owned.clear();
  }

  #release(owner: string, key: string): void {
    const held = this.#held.get(key);
    held?.owners.delete(owner);
    if (!held || held.owners.size > 0) return;
    this.#unbind(held);
    this.#held.delete(key);
    if (held.reservation.ip === undefined) this.#bindAgain(this.#atOneAddress(held.reservation));
  }

  #unbind(held: Held): void {
    if (held.fd === undefined) return;
    closeRaw(held.fd);
    held.fd = undefined;
    this.#resources.descriptors -= 1;
  }

  /** Binds ports that a reservation of all addresses kept until now. */
  #bindAgain(reservations: readonly Held[]): void {
    for (const held of reservations) {
      try {
        held.fd ??= this.#bind(held.reservation);
      } catch (error) {
        // Another program was faster, or the address is gone. The next call of `reserve` returns that error.
        if (!(error instanceof KernelError)) throw error;
      }
    }
  }

  #bind(reservation: Reservation): number | undefined {
    if (reservation.ip === undefined) return this.#bindAll(reservation);
    const isKept = this.#held.get(keyOf({ ...reservation, ip: undefined }))?.fd !== undefined;
    return isKept ? undefined : this.#open(reservation);
  }

  /**
   * The kernel does not bind a port at all addresses while one of them is bound, by us or by another program. So this
   * closes our sockets at single addresses first. If it succeeds, the new socket keeps their ports too.
   */
  #bindAll(reservation: Reservation): number {
    try {
      return this.#open(reservation);
    } catch (error) {
      const own = this.#atOneAddress(reservation).filter(({ fd }) => fd !== undefined);
      if (own.length === 0 || !(error instanceof KernelError && error.errno === 'EADDRINUSE')) throw error;
      return this.#openWithout(own, reservation);
    }
  }

  #openWithout(own: readonly Held[], reservation: Reservation): number {
    for (const held of own) this.#unbind(held);
    try {
      return this.#open(reservation);
    } catch (error) {
      this.#bindAgain(own);
      throw error;
    }
  }

  /** Our reservations of the port at single addresses. */
  #atOneAddress({ protocol, port }: Reservation): readonly Held[] {
    return [...this.#held.values()].filter(
      ({ reservation }) =>
        reservation.ip !== undefined && reservation.protocol === protocol && reservation.port === port,
    );
  }

  #open({ protocol, ip, port }: Reservation): number {
    const { namespace } = this.#resources.options;
    const fd = openBound(namespace, this.#family, protocol, ip ?? ANY_IP[this.#family], port);
    this.#resources.descriptors += 1;
    return fd;
  }
}

function keyOf({ protocol, ip, port }: Reservation): string {
  return `${protocol} ${ip ?? '*'} ${port}`;
}
