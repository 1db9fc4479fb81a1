import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { cannotRead, errorCode } from './read-text.ts';

export type ScannedFile =
  | { readonly kind: 'file'; readonly path: string; readonly stats: BigIntStats }
  | { readonly kind: 'unusable'; readonly path: string; readonly message: string };

export interface ScannedFolder {
  readonly path: string;
  /** Another folder that took this one's name has another id. */
  readonly id: string;
}

export interface Scan {
  /** In the order of their paths. */
  readonly files: readonly ScannedFile[];
  readonly folders: readonly ScannedFolder[];
  /** The folder around the path itself. */
  readonly parent?: ScannedFolder | undefined;
  /** Folders that could not be listed: nobody knows what is in them. */
  readonly unlisted: readonly { readonly path: string; readonly message: string }[];
  /** Something went away while it was looked at: what is not in here may only have moved. */
  readonly outdated: boolean;
}

/**
 * Finds the manifests in a folder and the folders in it. Hidden names are skipped, and with them the folders in which a
 * mounted ConfigMap keeps its versions (`..data`): its files are links through them and are read once, by their own
 * names. Rejects only if the path itself cannot be used.
 */
export async function scanManifests(path: string): Promise<Scan> {
  const stats = await stat(path, { bigint: true });
  const parent = await around(path);
  if (!stats.isDirectory()) {
    return { files: [describe(path, stats)], folders: [], parent, unlisted: [], outdated: false };
  }
  const walk = new Walk(await realpath(path));
  await walk.folder(path, stats);
  return { ...walk.result(), parent };
}

interface Found {
  readonly file: ScannedFile;
  readonly linked: boolean;
}

const STATS_AT_ONCE = 64;

class Walk {
  readonly #root: string;
  readonly #found: Found[] = [];
  readonly #folders: ScannedFolder[] = [];
  readonly #unlisted: { path: string; message: string }[] = [];
  readonly #linkedFolders = new Set<string>();
  #outdated = false;

  constructor(root: string) {
    this.#root = root;
  }

  result(): Scan {
    const files = readOnce(this.#found).sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files, folders: this.#folders, unlisted: this.#unlisted, outdated: this.#outdated };
  }

  async folder(path: string, stats: BigIntStats): Promise<void> {
    let entries: Dirent[];
    try {
      entries = await readdir(path, { withFileTypes: true });
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOENT') this.#outdated = true;
      else this.#unlisted.push({ path, message: cannotRead(code) });
      return;
    }
    this.#folders.push({ path, id: idOf(stats) });
    const wanted = entries.filter(isWanted).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (let i = 0; i < wanted.length; i += STATS_AT_ONCE) {
      const batch = wanted.slice(i, i + STATS_AT_ONCE);
      const looks = await Promise.all(batch.map(entry => look(join(path, entry.name))));
      for (const [at, entry] of batch.entries()) await this.#entry(join(path, entry.name), entry, looks[at]);
    }
  }

  async #entry(path: string, entry: Dirent, seen: BigIntStats | string | undefined): Promise<void> {
    const manifest = isManifestName(entry.name);
    const linked = entry.isSymbolicLink();
    if (typeof seen === 'object' && seen.isDirectory() && !manifest) {
      if (!linked || (await this.#follows(path))) await this.folder(path, seen);
    } else if (typeof seen === 'object' && manifest) {
      this.#found.push({ file: describe(path, seen), linked });
    } else if (seen === 'ENOENT' && !(linked && (await isLink(path)))) {
      this.#outdated = true;
    } else if (manifest && seen === 'ENOENT') {
      this.#found.push({ file: unusable(path, 'is a link to nothing: mend or delete it'), linked });
    } else if (manifest) {
      this.#found.push({ file: unusable(path, cannotRead(String(seen))), linked });
    }
  }

  /** Only links to folders that are not walked by their own name, and not to all the rest of the machine. */
  async #follows(path: string): Promise<boolean> {
    const target = await realpath(path).catch(() => this.#root);
    const steps = relative(this.#root, target).split(sep);
    if (steps[0] === '..') {
      this.#unlisted.push({ path, message: 'is a link out of the folder and not followed: give its target itself' });
      return false;
    }
    if (!steps.some(isHidden) || this.#linkedFolders.has(target)) return false;
    this.#linkedFolders.add(target);
    return true;
  }
}

async function around(path: string): Promise<ScannedFolder | undefined> {
  const parent = dirname(resolve(path));
  const stats = await look(parent);
  return typeof stats === 'string' ? undefined : { path: parent, id: idOf(stats) };
}

function look(path: string): Promise<BigIntStats | string> {
  return stat(path, { bigint: true }).catch(errorCode);
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    stats => stats.isSymbolicLink(),
    () => false,
  );
}

function isWanted(entry: Dirent): boolean {
  return !isHidden(entry.name) && (isManifestName(entry.name) || !entry.isFile());
}

function isHidden(name: string): boolean {
  return name.startsWith('.');
}

function isManifestName(name: string): boolean {
  return /\.(ya?ml|json)$/.test(name);
}

function describe(path: string, stats: BigIntStats): ScannedFile {
  if (stats.isFile()) return { kind: 'file', path, stats };
  if (stats.isDirectory()) return unusable(path, 'is a folder, though named like a manifest: rename it');
  return unusable(path, 'is no regular file (a pipe, socket or device): replace it by one');
}

function unusable(path: string, message: string): ScannedFile {
  return { kind: 'unusable', path, message };
}

/** A file that is also linked to from beside is one file. */
function readOnce(found: readonly Found[]): ScannedFile[] {
  const own = new Set(found.flatMap(({ file, linked }) => (file.kind === 'file' && !linked ? [idOf(file.stats)] : [])));
  const files: ScannedFile[] = [];
  for (const { file, linked } of found) {
    if (file.kind === 'file' && linked) {
      const id = idOf(file.stats);
      if (own.has(id)) continue;
      own.add(id);
    }
    files.push(file);
  }
  return files;
}

/** With the time of birth, since a new file often gets the number of one just deleted. */
function idOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}
