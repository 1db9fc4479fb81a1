import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { sep } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Problem } from '../lib/problem.ts';
import { ReportOnce } from '../lib/report-once.ts';
import type { GuardedHandlers } from './guarded-handlers.ts';
import type { ListedFile, ManifestListing } from './list-manifest-files.ts';
import type { ManifestCollection, Manifests } from './manifest-collection.ts';
import { type ManifestFile, parseManifests } from './parse-manifests.ts';
import { readText } from './read-text.ts';
import { DEFAULT_RULES, type ManifestRules } from './validate-addresses.ts';

/** A file as of the last time that it was read. */
interface FileState extends FileVersion {
  /** The digest of the text, or the reason why the file could not be read. */
  readonly content: string;
  readonly isGood: boolean;
}

interface FileVersion {
  /** Size, times and inode. If they are the same, the file is the same. */
  readonly fingerprint: string;
  /** The file changed so recently that a further change may leave the same fingerprint. */
  readonly isRecent: boolean;
}

/** The coarsest file systems store times in steps of two seconds. */
const RECENT_MS = 2000;
const MAX_PROBLEMS = 20;
const NO_MANIFESTS: Manifests = new Map();

/** Brings a collection up to date with files. Reports the problems of a file once for each change of the file. */
export class ManifestFiles {
  readonly #collection: ManifestCollection;
  readonly #handlers: GuardedHandlers;
  readonly #clock: Clock;
  readonly #rules: ManifestRules;
  readonly #files = new Map<string, FileState>();
  readonly #unlisted = new ReportOnce();
  /** Files that the last listing missed. */
  #missing: ReadonlySet<string> = new Set();

  constructor(collection: ManifestCollection, handlers: GuardedHandlers, clock: Clock, rules = DEFAULT_RULES) {
    this.#rules = rules;
    this.#collection = collection;
    this.#handlers = handlers;
    this.#clock = clock;
  }

  /** Whether the file was reported, and is not good yet. Duplicates in other files do not count. */
  hasProblem(path: string): boolean {
    return this.#files.get(path)?.isGood === false;
  }

  /** Returns true if another listing is needed soon, to confirm that files are gone. */
  async update(listing: ManifestListing): Promise<boolean> {
    let outdated = listing.outdated;
    this.#reportUnlisted(listing);
    for (const file of listing.files) {
      if (this.#handlers.closed) return false;
      outdated = (await this.#updateFile(file)) || outdated;
    }
    const missing = this.#missingIn(listing);
    for (const path of missing) this.#miss(path, !outdated && this.#missing.has(path));
    this.#missing = missing;
    return outdated || [...missing].some(path => this.#files.has(path));
  }

  /** Returns true if the file vanished since it was listed. */
  async #updateFile(file: ListedFile): Promise<boolean> {
    const { path } = file;
    const known = this.#files.get(path);
    if (file.kind === 'unusable') {
      this.#refuse(path, file.message, { fingerprint: '', isRecent: false });
      return false;
    }
    const fingerprint = fingerprintOf(file.stats);
    if (known?.fingerprint === fingerprint && !known.isRecent) return false;
    const version = { fingerprint, isRecent: this.#clock.now() - Number(file.stats.mtimeMs) < RECENT_MS };
    const result = await readText(path);
    switch (result.kind) {
      case 'gone':
        return true;
      case 'problem':
        this.#refuse(path, result.message, version);
        return false;
      case 'text':
        await this.#parse(path, result.text, version);
        return false;
    }
  }

  /** The objects that were read from the file before stay. */
  #refuse(path: string, message: string, version: FileVersion): void {
    const isNew = this.#files.get(path)?.content !== message;
    this.#files.set(path, { ...version, content: message, isGood: false });
    if (isNew) this.#handlers.problem(unreadableFile(path, message, this.#collection.manifestsOf(path)));
  }

  async #parse(path: string, text: string, version: FileVersion): Promise<void> {
    const content = createHash('sha256').update(text).digest('base64');
    const known = this.#files.get(path);
    if (known?.content === content) {
      this.#files.set(path, { ...known, ...version });
      return;
    }
    const file = await parseManifests(text, path, this.#rules);
    const isGood = file.problems.length === 0;
    this.#files.set(path, { ...version, content, isGood });
    this.#report(path, file);
    this.#collection.put(path, withLastGood(this.#collection.manifestsOf(path) ?? NO_MANIFESTS, file));
    if (isGood && known?.isGood === false) this.#handlers.recovered(path);
  }

  #report(path: string, file: ManifestFile): void {
    for (const problem of fileProblems(path, file, this.#collection.manifestsOf(path))) this.#handlers.problem(problem);
  }

  #reportUnlisted({ unlisted }: ManifestListing): void {
    for (const { path, message } of unlisted) {
      if (this.#unlisted.add(path, message)) this.#handlers.problem({ where: path, reason: 'unreadable', message });
    }
    for (const path of this.#unlisted.subjects()) {
      if (unlisted.some(folder => folder.path === path)) continue;
      this.#unlisted.delete(path);
      this.#handlers.recovered(path);
    }
  }

  /** Files that are gone. A file in a folder that could not be listed may still be there. */
  #missingIn({ files, unlisted }: ManifestListing): ReadonlySet<string> {
    const listed = new Set(files.map(file => file.path));
    const gone = [...this.#files.keys()].filter(path => !listed.has(path));
    return new Set(gone.filter(path => !unlisted.some(folder => path.startsWith(folder.path + sep))));
  }

  /**
   * A missing file may be about to be replaced, or it was renamed while its folder was listed. So its objects go when a
   * second listing confirms that it is gone. Before that, it only loses the objects that other files have too.
   */
  #miss(path: string, isConfirmed: boolean): void {
    const manifests = [...(this.#collection.manifestsOf(path) ?? [])];
    const own = manifests.filter(([key]) => this.#collection.pathsOf(key).length === 1);
    this.#collection.put(path, isConfirmed ? NO_MANIFESTS : new Map(own));
    if (!isConfirmed) return;
    if (this.hasProblem(path)) this.#handlers.recovered(path);
    this.#files.delete(path);
  }
}

/**
 * An object with a problem keeps its last good version. A problem that names no object may concern any object, so all
 * keep theirs.
 */
function withLastGood(before: Manifests, { manifests, problems, isBroken }: ManifestFile): Manifests {
  if (isBroken) return before;
  if (problems.length === 0) return manifests;
  const bad = new Set(problems.map(problem => problem.object));
  const kept = [...before].filter(([key]) => !manifests.has(key) && (bad.has(key) || bad.has(undefined)));
  return new Map([...manifests, ...kept]);
}

/** The problem of a file that cannot be read. `before` has what was read from it earlier. */
export function unreadableFile(path: string, message: string, before?: Manifests): Problem {
  return { where: path, reason: 'unreadable', message: `${message} (${fileEffect(before)})` };
}

/** The problems of a file, with their effects. `before` has what was read from it earlier. */
export function fileProblems(path: string, file: ManifestFile, before?: Manifests): readonly Problem[] {
  const { problems, manifests, isBroken } = file;
  const reported = problems.slice(0, MAX_PROBLEMS).map(problem => {
    const { object } = problem;
    const isOfFile = isBroken || object === undefined;
    return withEffect(problem, isOfFile ? fileEffect(before) : objectEffect(object, before, manifests));
  });
  const more = problems.length - MAX_PROBLEMS;
  return more > 0 ? [...reported, { where: path, message: `has ${more} more problems like these` }] : reported;
}

function fileEffect(before: Manifests | undefined): string {
  return before ? 'what was read from it before stays in use' : 'nothing of it is used';
}

function objectEffect(key: string, before: Manifests | undefined, after: Manifests): string | undefined {
  if (after.has(key)) return undefined;
  return before?.has(key) ? 'its last good version stays in use' : 'the object is not used';
}

function withEffect(problem: Problem, effect: string | undefined): Problem {
  return effect === undefined ? problem : { ...problem, message: `${problem.message} (${effect})` };
}

function fingerprintOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}
