import type { SetOrMap } from '../../../kernel/nftables/index.ts';
import type { Layout } from '../table/layout.ts';

/**
 * Counts how many service ports use an object that several may use: chains, sets, and elements of three sets. Also
 * counts how many elements and chains there are. Only committed plans count. Each transaction comes with the changes
 * that it makes to the counts.
 */
export class UseCounts {
  readonly #counts: Map<string, number>;

  /** `permanent`: objects that exist even if no service port uses them. */
  constructor(permanent: readonly string[] = []) {
    this.#counts = new Map(permanent.map(identity => [identity, 1]));
  }

  count(identity: string): number {
    return this.#counts.get(identity) ?? 0;
  }

  apply(changes: ReadonlyMap<string, number>): void {
    for (const [identity, change] of changes) {
      const count = this.count(identity) + change;
      if (count > 0) this.#counts.set(identity, count);
      else this.#counts.delete(identity);
    }
  }
}

export function chainIdentity(name: string): string {
  return `chain ${name}`;
}

export function setIdentity(name: string): string {
  return `set ${name}`;
}

/** The number of elements that service ports have in a set. */
export function sizeIdentity(set: string): string {
  return `size ${set}`;
}

/** The number of chains that exist because service ports use them. */
export const USED_CHAINS = 'used chains';

/** Elements of all other sets belong to one service port, because no two service ports have the same frontend. */
export function isSharedSet(layout: Layout, set: SetOrMap): boolean {
  return set === layout.clusterIPs || set === layout.hairpins || set === layout.targets;
}

export function elementIdentity(set: SetOrMap, key: Buffer): string {
  return `${set.name} ${key.toString('latin1')}`;
}
