import type { SetOrMap } from '../../kernel/nftables/index.ts';
import type { Layout } from './layout.ts';

/**
 * How many service ports use what several may use: chains, sets, and elements of three sets. It counts what is committed;
 * a transaction comes with the changes that it makes to the counts.
 */
export class Ledger {
  readonly #counts: Map<string, number>;

  /** `standing` is in use whether service ports use it or not. */
  constructor(standing: readonly string[] = []) {
    this.#counts = new Map(standing.map(identity => [identity, 1]));
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

/** Elements of other sets belong to one service port, because no two have the same frontend. */
export function isSharedSet(layout: Layout, set: SetOrMap): boolean {
  return set === layout.clusterIPs || set === layout.hairpins || set === layout.targets;
}

export function elementIdentity(set: SetOrMap, key: Buffer): string {
  return `${set.name} ${key.toString('latin1')}`;
}
