import type { Problem } from '../lib/problem.ts';
import { listManifestFiles, type ManifestListing } from './list-manifest-files.ts';
import { duplicateProblems, ManifestCollection, type Manifests } from './manifest-collection.ts';
import { fileProblems, unreadableFile } from './manifest-files.ts';
import { type Manifest, type ManifestFile, parseManifests } from './parse-manifests.ts';
import { decodeText, MAX_BYTES, readText, tooLong, unreadablePath } from './read-text.ts';
import type { ManifestRules } from './validate-addresses.ts';

/** The manifests of a path at one moment. Nothing is selected: it has the Nodes of all machines. */
export interface ManifestSnapshot {
  readonly manifests: Manifests;
  readonly problems: readonly Problem[];
  /** What the operator should know although nothing is wrong. */
  readonly notes: readonly string[];
}

/** Reads a folder of manifests, or one file, once. Rejects if the path itself cannot be read. */
export async function readManifests(path: string, rules: ManifestRules): Promise<ManifestSnapshot> {
  const listing = await listManifestFiles(path).catch(error => {
    throw unreadablePath(path, error);
  });
  const reader = new SnapshotReader(rules);
  for (const { path: where, message } of listing.unlisted)
    reader.problems.push({ where, reason: 'unreadable', message });
  await reader.addFiles(listing);
  return reader.snapshot(path);
}

/** Reads manifests from a stream. `name` stands for the file in messages. */
export async function readManifestText(
  stream: AsyncIterable<Buffer | string> | Iterable<Buffer | string>,
  name: string,
  rules: ManifestRules,
): Promise<ManifestSnapshot> {
  const reader = new SnapshotReader(rules);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_BYTES) break;
    chunks.push(bytes);
  }
  const text =
    size > MAX_BYTES ? { kind: 'problem' as const, message: tooLong(size) } : decodeText(Buffer.concat(chunks));
  if (text.kind === 'text') await reader.add(name, text.text);
  else if (text.kind === 'problem') reader.problems.push(unreadableFile(name, text.message));
  return reader.snapshot(name);
}

class SnapshotReader {
  readonly problems: Problem[] = [];
  readonly #rules: ManifestRules;
  readonly #collection = new ManifestCollection();
  readonly #files: ManifestFile[] = [];

  constructor(rules: ManifestRules) {
    this.#rules = rules;
  }

  async addFiles({ files }: ManifestListing): Promise<void> {
    for (const file of files) {
      const read = file.kind === 'unusable' ? undefined : await readText(file.path);
      const message = file.kind === 'unusable' ? file.message : read?.kind === 'problem' ? read.message : undefined;
      if (message !== undefined) this.problems.push(unreadableFile(file.path, message));
      else if (read?.kind === 'text') await this.add(file.path, read.text);
    }
  }

  async add(path: string, text: string): Promise<void> {
    const file = await parseManifests(text, path, this.#rules);
    this.#files.push(file);
    this.problems.push(...fileProblems(path, file));
    // Like at the first start of a proxy: nothing of a broken file is used.
    if (!file.isBroken) this.#collection.put(path, file.manifests);
  }

  /** `name` is the path of all manifests. */
  snapshot(name: string): ManifestSnapshot {
    const manifests = new Map<string, Manifest>();
    const { changes, duplicates } = this.#collection.takeChanges(() => true);
    for (const { key } of changes) {
      const used = this.#collection.used(key);
      if (used) manifests.set(key, used);
    }
    const problems = [...this.problems, ...duplicates.flatMap(duplicateProblems)];
    const empty = problems.length === 0 && manifests.size === 0 ? [this.#emptyProblem(name)] : [];
    return { manifests, problems: [...problems, ...empty], notes: this.#notes() };
  }
  /** A plan of nothing would look as if all were well. */
  #emptyProblem(name: string): Problem {
    if (this.#files.length === 0) {
      return { where: name, message: 'has no manifests: no file in it ends in .yaml, .yml or .json' };
    }
    const isEmpty = this.#files.every(({ ignored }) => ignored.length === 0);
    const message = `has no Service, EndpointSlice, Node or ServiceCIDR${isEmpty ? ': it is empty' : ''}`;
    return { where: name, message };
  }

  #notes(): readonly string[] {
    const counts = new Map<string, number>();
    const ignored = this.#files.flatMap(file => file.ignored);
    for (const kind of ignored) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    if (counts.size === 0) return [];
    const kinds = Array.from(counts, ([kind, count]) => `${count} ${kind}`)
      .sort()
      .join(', ');
    const hint = counts.has('Endpoints') ? ' (a proxy reads EndpointSlices, not Endpoints)' : '';
    return [`objects of other kinds do not count: ${kinds}${hint}`];
  }
}
