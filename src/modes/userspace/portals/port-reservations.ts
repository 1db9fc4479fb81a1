import { KernelError } from '../../../kernel/errors.ts';
import { closeRaw, openBound } from '../../../kernel/sockets/index.ts';
import { ANY_IP, type Family, type Ip } from '../../../net/index.ts';
import type { Traffic } from '../relay/relay-resources.ts';

/** An address of this machine that a portal takes over. */
export interface Claim {
  readonly protocol: 'TCP' | 'UDP';
  /** Undefined: all addresses. */
  readonly ip: Ip | undefined;
  readonly port: number;
}

interface Held {
  readonly claim: Claim;
  readonly owners: Set<string>;
  /** Undefined: our claim of all addresses keeps the port, or someone was faster when that was given up. */
  fd: number | undefined;
}

/**
 * Keeps other programs from listening where a portal takes what they would get. A claimed port is bound and nobody listens
 * at it, so that a connection that comes around the portal's rules is refused rather than left to wait.
 */
export class PortClaims {
  readonly #traffic: Traffic;
  readonly #family: Family;
  readonly #held = new Map<string, Held>();
  /** The keys of what each owner has. */
  readonly #owned = new Map<string, Set<string>>();

  constructor(traffic: Traffic, family: Family) {
    this.#traffic = traffic;
    this.#family = family;
  }

  /** Returns why it cannot be had; undefined if it can. */
  claim(owner: string, claim: Claim): KernelError | undefined {
    const key = keyOf(claim);
    try {
      const held = this.#held.get(key) ?? { claim, owners: new Set(), fd: undefined };
      held.fd ??= this.#bind(claim);
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

  /** Gives up what the owner has, but for these. */
  releaseExcept(owner: string, claims: readonly Claim[]): void {
    const owned = this.#owned.get(owner);
    if (!owned) return;
    const kept = new Set(claims.map(keyOf));
    for (const key of owned) {
      if (kept.has(key)) continue;
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
    if (held.claim.ip === undefined) this.#keep(this.#single(held.claim));
  }

  #unbind(held: Held): void {
    if (held.fd === undefined) return;
    closeRaw(held.fd);
    held.fd = undefined;
    this.#traffic.descriptors -= 1;
  }

  /** What nobody else keeps for them any more they must keep themselves. */
  #keep(claims: readonly Held[]): void {
    for (const held of claims) {
      try {
        held.fd ??= this.#bind(held.claim);
      } catch (error) {
        // Someone was faster, or the address is gone. Who has the claim finds out when it is claimed again.
        if (!(error instanceof KernelError)) throw error;
      }
    }
  }

  #bind(claim: Claim): number | undefined {
    if (claim.ip === undefined) return this.#bindAll(claim);
    return this.#held.get(keyOf({ ...claim, ip: undefined }))?.fd === undefined ? this.#open(claim) : undefined;
  }

  /**
   * All addresses cannot be bound while we have one of them, and whether others have another cannot be seen meanwhile: ours
   * are given up for this moment, and are kept with all the others if it can be had.
   */
  #bindAll(claim: Claim): number {
    try {
      return this.#open(claim);
    } catch (error) {
      const single = this.#single(claim).filter(({ fd }) => fd !== undefined);
      if (single.length === 0 || !(error instanceof KernelError && error.errno === 'EADDRINUSE')) throw error;
      return this.#openWithout(single, claim);
    }
  }

  #openWithout(single: readonly Held[], claim: Claim): number {
    for (const held of single) this.#unbind(held);
    try {
      return this.#open(claim);
    } catch (error) {
      this.#keep(single);
      throw error;
    }
  }

  /** Our claims of that port at one address. */
  #single({ protocol, port }: Claim): readonly Held[] {
    return [...this.#held.values()].filter(
      ({ claim }) => claim.ip !== undefined && claim.protocol === protocol && claim.port === port,
    );
  }

  #open({ protocol, ip, port }: Claim): number {
    const { namespace } = this.#traffic.options;
    const fd = openBound(namespace, this.#family, protocol, ip ?? ANY_IP[this.#family], port);
    this.#traffic.descriptors += 1;
    return fd;
  }
}

function keyOf({ protocol, ip, port }: Claim): string {
  return `${protocol} ${ip ?? '*'} ${port}`;
}
