import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { sep } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import type { Problem } from '../lib/problem.ts';
import type { Collection, Manifests } from './collection.ts';
import { type ManifestFile, parseManifests } from './manifests.ts';
import { readText } from './read-text.ts';
import type { Receiver } from './receiver.ts';
import type { Scan, ScannedFile } from './scan.ts';

/** A file as it was last looked at. */
interface FileState {
  /** Size, times and place: unchanged ones mean an unchanged file. */
  readonly fingerprint: string;
  /** The file was so new that a later change could leave the same fingerprint. */
  readonly fresh: boolean;
  /** Of its text, or what kept it from being read. */
  readonly digest: string;
  readonly good: boolean;
}

/** The coarsest file systems count time in steps of two seconds. */
const FRESH_MS = 2000;
const MOST_PROBLEMS = 20;
const NO_MANIFESTS: Manifests = new Map();

/** Keeps a collection in step with files, and tells what is wrong with them: once for each change of a file. */
export class ManifestFiles {
  readonly #collection: Collection;
  readonly #receiver: Receiver;
  readonly #clock: Clock;
  readonly #files = new Map<string, FileState>();
  readonly #unlisted = new Map<string, string>();
  #missing: ReadonlySet<string> = new Set();

  constructor(collection: Collection, receiver: Receiver, clock: Clock) {
    this.#collection = collection;
    this.#receiver = receiver;
    this.#clock = clock;
  }

  /** True if files went away, which another scan must confirm. */
  async refresh(scan: Scan): Promise<boolean> {
    let outdated = scan.outdated;
    this.#noteUnlisted(scan);
    for (const file of scan.files) {
      if (this.#receiver.closed) return false;
      outdated = (await this.#refreshFile(file)) || outdated;
    }
    const missing = this.#missingIn(scan);
    for (const path of missing) this.#miss(path, !outdated && this.#missing.has(path));
    this.#missing = missing;
    return outdated || [...missing].some(path => this.#files.has(path));
  }

  async #refreshFile(file: ScannedFile): Promise<boolean> {
    const { path } = file;
    const known = this.#files.get(path);
    if (file.kind === 'unusable') {
      this.#refuse(path, file.message, { fingerprint: '', fresh: false });
      return false;
    }
    const fingerprint = fingerprintOf(file.stats);
    if (known?.fingerprint === fingerprint && !known.fresh) return false;
    const look = { fingerprint, fresh: this.#clock.now() - Number(file.stats.mtimeMs) < FRESH_MS };
    const result = await readText(path);
    switch (result.kind) {
      case 'gone':
        return true;
      case 'problem':
        this.#refuse(path, result.message, look);
        return false;
      case 'text':
        await this.#read(path, result.text, look);
        return false;
    }
  }

  /** What was read from the file before stays. */
  #refuse(path: string, message: string, look: Pick<FileState, 'fingerprint' | 'fresh'>): void {
    const changed = this.#files.get(path)?.digest !== message;
    this.#files.set(path, { ...look, digest: message, good: false });
    if (changed) this.#receiver.problem({ where: path, message: `${message} (${this.#effect(path)})` });
  }

  async #read(path: string, text: string, look: Pick<FileState, 'fingerprint' | 'fresh'>): Promise<void> {
    const digest = createHash('sha256').update(text).digest('base64');
    const known = this.#files.get(path);
    if (known?.digest === digest) {
      this.#files.set(path, { ...known, ...look });
      return;
    }
    const file = await parseManifests(text, path);
    const good = file.problems.length === 0;
    this.#files.set(path, { ...look, digest, good });
    this.#report(path, file);
    this.#collection.put(path, keepLastGood(this.#collection.of(path) ?? NO_MANIFESTS, file));
    if (good && known?.good === false) this.#receiver.recovered(path);
  }

  #report(path: string, { problems, manifests, broken }: ManifestFile): void {
    const before = this.#collection.of(path);
    for (const problem of problems.slice(0, MOST_PROBLEMS)) {
      const { object } = problem;
      const effect = broken || object === undefined ? this.#effect(path) : objectEffect(object, before, manifests);
      this.#receiver.problem(withEffect(problem, effect));
    }
    const more = problems.length - MOST_PROBLEMS;
    if (more > 0) this.#receiver.problem({ where: path, message: `has ${more} more problems like these` });
  }

  #effect(path: string): string {
    return this.#collection.of(path) ? 'what was read from it before stays in use' : 'nothing of it is used';
  }

  #noteUnlisted(scan: Scan): void {
    for (const { path, message } of scan.unlisted) {
      if (this.#unlisted.get(path) !== message) this.#receiver.problem({ where: path, message });
      this.#unlisted.set(path, message);
    }
    for (const path of this.#unlisted.keys()) {
      if (scan.unlisted.some(folder => folder.path === path)) continue;
      this.#unlisted.delete(path);
      this.#receiver.recovered(path);
    }
  }

  /** Files that are gone, unless nobody could look whether they are. */
  #missingIn({ files, unlisted }: Scan): ReadonlySet<string> {
    const there = new Set(files.map(file => file.path));
    const gone = [...this.#files.keys()].filter(path => !there.has(path));
    return new Set(gone.filter(path => !unlisted.some(folder => path.startsWith(folder.path + sep))));
  }

  /**
   * A file that is gone takes its objects along once a second look confirms it: it may be about to be replaced, or have
   * been renamed while its folder was listed. Until then it only gives way to other files with its objects.
   */
  #miss(path: string, confirmed: boolean): void {
    const own = [...(this.#collection.of(path) ?? [])].filter(([key]) => this.#collection.owners(key).length === 1);
    this.#collection.put(path, confirmed ? NO_MANIFESTS : new Map(own));
    if (!confirmed) return;
    if (this.#files.get(path)?.good === false) this.#receiver.recovered(path);
    this.#files.delete(path);
  }
}

/** An object with a problem stays as it was last good. If it cannot be told which it is, any may be the one. */
function keepLastGood(before: Manifests, { manifests, problems, broken }: ManifestFile): Manifests {
  if (broken) return before;
  if (problems.length === 0) return manifests;
  const bad = new Set(problems.map(problem => problem.object));
  const kept = [...before].filter(([key]) => !manifests.has(key) && (bad.has(key) || bad.has(undefined)));
  return new Map([...manifests, ...kept]);
}

function objectEffect(key: string, before: Manifests | undefined, now: Manifests): string | undefined {
  if (now.has(key)) return undefined;
  return before?.has(key) ? 'its last good version stays in use' : 'the object is not used';
}

function withEffect(problem: Problem, effect: string | undefined): Problem {
  return effect === undefined ? problem : { ...problem, message: `${problem.message} (${effect})` };
}

function fingerprintOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}
