import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../api/index.ts';
import { type Change, changeBetween, latestOf } from '../lib/change.ts';
import type { Manifest } from './manifests.ts';

export type Manifests = ReadonlyMap<string, Manifest>;

export interface ManifestChange {
  readonly key: string;
  readonly change: Change<KubeObject>;
  /** The place of the object's newest version. */
  readonly where: string;
}

/** The same object in several files. */
export interface Contest {
  readonly key: string;
  readonly winner: Manifest;
  readonly others: readonly Manifest[];
}

export interface CollectionChanges {
  readonly changes: readonly ManifestChange[];
  readonly contests: readonly Contest[];
}

const KIND_ORDER: readonly KubeObject['kind'][] = ['Node', 'ServiceCIDR', 'Service', 'EndpointSlice'];

/** The objects of all files. One that is in several is taken from the first, in the order of their paths. */
export class Collection {
  readonly #files = new Map<string, Manifests>();
  readonly #owners = new Map<string, readonly string[]>();
  readonly #handedOver = new Map<string, Manifest>();
  readonly #contests = new Map<string, string>();
  readonly #touched = new Set<string>();

  of(path: string): Manifests | undefined {
    return this.#files.get(path);
  }

  /** The files that hold an object. */
  owners(key: string): readonly string[] {
    return this.#owners.get(key) ?? [];
  }

  put(path: string, manifests: Manifests): void {
    for (const key of this.#files.get(path)?.keys() ?? []) {
      this.#touched.add(key);
      if (!manifests.has(key)) this.#disown(key, path);
    }
    for (const key of manifests.keys()) {
      this.#touched.add(key);
      const owners = this.owners(key);
      if (!owners.includes(path)) this.#owners.set(key, [...owners, path].sort());
    }
    if (manifests.size === 0) this.#files.delete(path);
    else this.#files.set(path, manifests);
  }

  /** What changed since the last call, among the objects that are wanted. */
  takeChanges(wanted: (object: KubeObject) => boolean): CollectionChanges {
    const changes: ManifestChange[] = [];
    const contests: Contest[] = [];
    for (const key of this.#touched) {
      const change = this.#takeChange(key, wanted);
      const contest = this.#contest(key);
      if (change) changes.push(change);
      if (contest) contests.push(contest);
    }
    this.#touched.clear();
    return { changes: changes.sort((a, b) => kindOrder(a) - kindOrder(b)), contests };
  }

  #takeChange(key: string, wanted: (object: KubeObject) => boolean): ManifestChange | undefined {
    const from = this.#handedOver.get(key);
    const first = this.#winner(key);
    const to = first && wanted(first.object) ? first : undefined;
    if (to) this.#handedOver.set(key, to);
    else this.#handedOver.delete(key);
    const where = to?.where ?? from?.where;
    const change = changeBetween(from?.object, to?.object);
    if (where === undefined || change === undefined || isDeepStrictEqual(from?.object, to?.object)) return undefined;
    return { key, change, where };
  }

  /** Told once for the same files. */
  #contest(key: string): Contest | undefined {
    const owners = this.owners(key);
    const files = owners.join('\0');
    const known = this.#contests.get(key) === files;
    if (owners.length < 2) this.#contests.delete(key);
    if (owners.length < 2 || known) return undefined;
    this.#contests.set(key, files);
    const [winner, ...others] = owners.flatMap(path => this.#files.get(path)?.get(key) ?? []);
    return winner && { key, winner, others };
  }

  #winner(key: string): Manifest | undefined {
    const [path] = this.owners(key);
    return path === undefined ? undefined : this.#files.get(path)?.get(key);
  }

  #disown(key: string, path: string): void {
    const left = this.owners(key).filter(owner => owner !== path);
    if (left.length === 0) this.#owners.delete(key);
    else this.#owners.set(key, left);
  }
}

function kindOrder({ change }: ManifestChange): number {
  return KIND_ORDER.indexOf(latestOf(change).kind);
}
