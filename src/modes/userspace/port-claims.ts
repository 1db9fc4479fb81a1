import { KernelError } from '../../kernel/errors.ts';
import { closeRaw, openBound } from '../../kernel/sockets/index.ts';
import type { Family, Ip } from '../../net/index.ts';
import type { Traffic } from './traffic.ts';

/** An address of this machine that a portal takes over. */
export interface Claim {
  readonly protocol: 'TCP' | 'UDP';
  /** Undefined: all addresses. */
  readonly ip: Ip | undefined;
  readonly port: number;
}

const ANY: Readonly<Record<Family, Ip>> = { IPv4: '0.0.0.0' as Ip, IPv6: '::' as Ip };

interface Held {
  readonly claim: Claim;
  readonly owners: Set<string>;
  /** Undefined: another claim of ours keeps the port. */
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
      const held = this.#held.get(key) ?? { claim, owners: new Set(), fd: this.#bind(claim) };
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
    for (const { fd } of this.#held.values()) this.#unbind(fd);
    this.#held.clear();
    this.#owned.clear();
  }

  #release(owner: string, key: string): void {
    const held = this.#held.get(key);
    held?.owners.delete(owner);
    if (!held || held.owners.size > 0) return;
    this.#unbind(held.fd);
    this.#held.delete(key);
    if (held.fd === undefined) return;
    for (const other of this.#held.values()) this.#keep(other);
  }

  #unbind(fd: number | undefined): void {
    if (fd === undefined) return;
    closeRaw(fd);
    this.#traffic.descriptors -= 1;
  }

  /** What another claim kept until now must keep itself. */
  #keep(held: Held): void {
    if (held.fd !== undefined) return;
    try {
      held.fd = this.#bind(held.claim);
    } catch (error) {
      // Someone was faster; the portal is there all the same.
      if (!(error instanceof KernelError)) throw error;
    }
  }

  #bind(claim: Claim): number | undefined {
    const { protocol, ip, port } = claim;
    try {
      const { namespace } = this.#traffic.options;
      const fd = openBound(namespace, this.#family, protocol, ip ?? ANY[this.#family], port);
      this.#traffic.descriptors += 1;
      return fd;
    } catch (error) {
      if (error instanceof KernelError && error.errno === 'EADDRINUSE' && this.#isKept(claim)) return undefined;
      throw error;
    }
  }

  #isKept({ protocol, port }: Claim): boolean {
    return [...this.#held.values()].some(({ claim }) => claim.protocol === protocol && claim.port === port);
  }
}

function keyOf({ protocol, ip, port }: Claim): string {
  return `${protocol} ${ip ?? '*'} ${port}`;
}
