import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, ObjectLookup } from '../api/index.ts';
import { type Change, changeBetween, latestOf } from '../lib/change.ts';
import type { Problem } from '../lib/problem.ts';
import type { Manifest } from './parse-manifests.ts';

/** Manifests by their keys. */
export type Manifests = ReadonlyMap<string, Manifest>;

export interface ManifestChange {
  readonly key: string;
  readonly change: Change<KubeObject>;
  /** The place of the object's newest version. */
  readonly where: string;
}

/** The same object in several files. */
export interface DuplicateManifest {
  readonly key: string;
  readonly used: Manifest;
  readonly unused: readonly Manifest[];
}

export interface CollectionChanges {
  readonly changes: readonly ManifestChange[];
  /** Each is returned once, and again when other files have the object. */
  readonly duplicates: readonly DuplicateManifest[];
  /** The files that have no duplicate any more. */
  readonly resolved: readonly string[];
}

const KIND_ORDER: readonly KubeObject['kind'][] = ['Node', 'ServiceCIDR', 'Service', 'EndpointSlice'];

/** The objects of all files. If several files have the same object, the first file in the order of paths counts. */
export class ManifestCollection {
  readonly #files = new Map<string, Manifests>();
  /** The paths of the files that have an object, in order. */
  readonly #paths = new Map<string, readonly string[]>();
  /** The manifests as of the last `takeChanges`. */
  readonly #taken = new Map<string, Manifest>();
  /** The paths of each duplicate that was returned. */
  readonly #knownDuplicates = new Map<string, readonly string[]>();
  /** Keys that may have changed since the last `takeChanges`. */
  readonly #touched = new Set<string>();

  manifestsOf(path: string): Manifests | undefined {
    return this.#files.get(path);
  }

  /** The files that have an object. */
  pathsOf(key: string): readonly string[] {
    return this.#paths.get(key) ?? [];
  }

  /** Replaces the manifests of a file. */
  put(path: string, manifests: Manifests): void {
    for (const key of this.#files.get(path)?.keys() ?? []) {
      this.#touched.add(key);
      if (!manifests.has(key)) this.#removePath(key, path);
    }
    for (const key of manifests.keys()) {
      this.#touched.add(key);
      const paths = this.pathsOf(key);
      if (!paths.includes(path)) this.#paths.set(key, [...paths, path].sort());
    }
    if (manifests.size === 0) this.#files.delete(path);
    else this.#files.set(path, manifests);
  }

  /** Returns what changed since the last call, of the objects that are selected. */
  takeChanges(isSelected: (object: KubeObject) => boolean): CollectionChanges {
    const changes: ManifestChange[] = [];
    const duplicates: DuplicateManifest[] = [];
    const before = [...this.#touched].flatMap(key => this.#knownDuplicates.get(key)?.slice(1) ?? []);
    for (const key of this.#touched) {
      const change = this.#takeChange(key, isSelected);
      const duplicate = this.#takeDuplicate(key);
      if (change) changes.push(change);
      if (duplicate) duplicates.push(duplicate);
    }
    this.#touched.clear();
    return {
      changes: changes.sort((a, b) => kindOrder(a) - kindOrder(b)),
      duplicates,
      resolved: before.length === 0 ? [] : this.#withoutDuplicates(before),
    };
  }

  /** The objects as of the last `takeChanges`. */
  get objects(): ObjectLookup {
    return {
      service: key => this.#takenObject('Service', key),
      services: () => this.#takenObjects('Service'),
      slice: key => this.#takenObject('EndpointSlice', key),
      slices: () => this.#takenObjects('EndpointSlice'),
    };
  }

  #takenObject<Kind extends KubeObject['kind']>(kind: Kind, key: string): ObjectOf<Kind> | undefined {
    const object = this.#taken.get(`${kind} ${key}`)?.object;
    return object && isOfKind(object, kind) ? object : undefined;
  }

  *#takenObjects<Kind extends KubeObject['kind']>(kind: Kind): Iterable<ObjectOf<Kind>> {
    for (const { object } of this.#taken.values()) if (isOfKind(object, kind)) yield object;
  }

  #takeChange(key: string, isSelected: (object: KubeObject) => boolean): ManifestChange | undefined {
    const from = this.#taken.get(key);
    const used = this.used(key);
    const to = used && isSelected(used.object) ? used : undefined;
    if (to) this.#taken.set(key, to);
    else this.#taken.delete(key);
    const where = to?.where ?? from?.where;
    const change = changeBetween(from?.object, to?.object);
    if (where === undefined || change === undefined || isDeepStrictEqual(from?.object, to?.object)) return undefined;
    return { key, change, where };
  }

  #takeDuplicate(key: string): DuplicateManifest | undefined {
    const paths = this.pathsOf(key);
    if (paths.length < 2) {
      this.#knownDuplicates.delete(key);
      return undefined;
    }
    if (isDeepStrictEqual(this.#knownDuplicates.get(key), paths)) return undefined;
    this.#knownDuplicates.set(key, paths);
    const [used, ...unused] = paths.flatMap(path => this.#files.get(path)?.get(key) ?? []);
    return used && { key, used, unused };
  }

  #withoutDuplicates(paths: readonly string[]): readonly string[] {
    const unused = new Set([...this.#knownDuplicates.values()].flatMap(([, ...others]) => others));
    return [...new Set(paths)].filter(path => !unused.has(path));
  }

  /** The manifest that counts. */
  used(key: string): Manifest | undefined {
    const [path] = this.pathsOf(key);
    return path === undefined ? undefined : this.#files.get(path)?.get(key);
  }

  #removePath(key: string, path: string): void {
    const left = this.pathsOf(key).filter(other => other !== path);
    if (left.length === 0) this.#paths.delete(key);
    else this.#paths.set(key, left);
  }
}

type ObjectOf<Kind extends KubeObject['kind']> = Extract<KubeObject, { readonly kind: Kind }>;

function isOfKind<Kind extends KubeObject['kind']>(object: KubeObject, kind: Kind): object is ObjectOf<Kind> {
  return object.kind === kind;
}

/** One problem for each place that is not used. */
export function duplicateProblems({ key, used, unused }: DuplicateManifest): readonly Problem[] {
  const message = `is also at ${used.where}, which is used: remove one`;
  return unused.map(({ where }) => ({ where, reason: 'duplicate', object: key, message }));
}

function kindOrder({ change }: ManifestChange): number {
  return KIND_ORDER.indexOf(latestOf(change).kind);
}
