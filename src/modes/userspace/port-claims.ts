import { KernelError } from '../../kernel/errors.ts';
import type { NetworkNamespace } from '../../kernel/netns.ts';
import { closeRaw, openBound } from '../../kernel/sockets/index.ts';
import type { Family, Ip } from '../../net/index.ts';

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
  readonly #namespace: NetworkNamespace | undefined;
  readonly #family: Family;
  readonly #held = new Map<string, Held>();

  constructor(namespace: NetworkNamespace | undefined, family: Family) {
    this.#namespace = namespace;
    this.#family = family;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Returns why it cannot be had; undefined if it can. */
  claim(owner: string, claim: Claim): KernelError | undefined {
    const key = keyOf(claim);
    const known = this.#held.get(key);
    if (known) {
      known.owners.add(owner);
      return undefined;
    }
    try {
      this.#held.set(key, { claim, owners: new Set([owner]), fd: this.#bind(claim) });
      return undefined;
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      return error;
    }
  }

  /** Gives up what the owner has, but for these. */
  releaseExcept(owner: string, claims: readonly Claim[]): void {
    const kept = new Set(claims.map(keyOf));
    let isReleased = false;
    for (const [key, { owners, fd }] of this.#held) {
      if (kept.has(key) || !owners.delete(owner) || owners.size > 0) continue;
      if (fd !== undefined) closeRaw(fd);
      this.#held.delete(key);
      isReleased = true;
    }
    if (isReleased) for (const held of this.#held.values()) this.#keep(held);
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

  close(): void {
    for (const { fd } of this.#held.values()) if (fd !== undefined) closeRaw(fd);
    this.#held.clear();
  }

  #bind(claim: Claim): number | undefined {
    const { protocol, ip, port } = claim;
    try {
      return openBound(this.#namespace, this.#family, protocol, ip ?? ANY[this.#family], port);
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
