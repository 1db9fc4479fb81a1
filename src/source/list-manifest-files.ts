import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { compareTexts } from '../lib/compare-texts.ts';
import { cannotRead, readErrorCode } from './read-text.ts';

export type ListedFile =
  | { readonly kind: 'file'; readonly path: string; readonly stats: BigIntStats }
  | { readonly kind: 'unusable'; readonly path: string; readonly message: string };

export interface ListedFolder {
  readonly path: string;
  /** If another folder takes the name of this one, its id differs. */
  readonly id: string;
}

export interface ManifestListing {
  /** In the order of their paths. */
  readonly files: readonly ListedFile[];
  readonly folders: readonly ListedFolder[];
  /** The folder that contains the path itself. */
  readonly parent?: ListedFolder | undefined;
  /** Folders and links whose files are not known. */
  readonly unlisted: readonly { readonly path: string; readonly message: string }[];
  /** Something vanished during the listing. A file that is missing here may only have moved. */
  readonly outdated: boolean;
}

/**
 * Lists the manifests in a folder and in the folders below it. It skips hidden names. A mounted ConfigMap keeps its
 * versions in hidden folders (`..data`), and its files are links into them: they are listed once, by their own names.
 * Rejects only if the path itself cannot be used.
 */
export async function listManifestFiles(path: string): Promise<ManifestListing> {
  const stats = await stat(path, { bigint: true });
  const parent = await parentOf(path);
  if (!stats.isDirectory()) {
    return { files: [fileOf(path, stats)], folders: [], parent, unlisted: [], outdated: false };
  }
  const walk = new FolderWalk(await realpath(path));
  await walk.enter(path, stats);
  return { ...walk.listing(), parent };
}

interface FoundFile {
  readonly file: ListedFile;
  readonly isLink: boolean;
}

const STATS_AT_ONCE = 64;

class FolderWalk {
  readonly #root: string;
  readonly #found: FoundFile[] = [];
  readonly #folders: ListedFolder[] = [];
  readonly #unlisted: { path: string; message: string }[] = [];
  readonly #enteredTargets = new Set<string>();
  #outdated = false;

  constructor(root: string) {
    this.#root = root;
  }

  listing(): ManifestListing {
    const files = withoutRepeats(this.#found).sort((a, b) => compareTexts(a.path, b.path));
    return { files, folders: this.#folders, unlisted: this.#unlisted, outdated: this.#outdated };
  }

  async enter(path: string, stats: BigIntStats): Promise<void> {
    let entries: Dirent[];
    try {
      entries = await readdir(path, { withFileTypes: true });
    } catch (error) {
      const code = readErrorCode(error);
      if (code === 'ENOENT') this.#outdated = true;
      else this.#unlisted.push({ path, message: cannotRead(code) });
      return;
    }
    this.#folders.push({ path, id: idOf(stats) });
    const wanted = entries.filter(isWanted).sort((a, b) => compareTexts(a.name, b.name));
    for (let i = 0; i < wanted.length; i += STATS_AT_ONCE) {
      const batch = wanted.slice(i, i + STATS_AT_ONCE);
      const results = await Promise.all(batch.map(entry => statOrCode(join(path, entry.name))));
      for (const [at, entry] of batch.entries()) await this.#add(join(path, entry.name), entry, results[at]);
    }
  }

  async #add(path: string, entry: Dirent, stats: BigIntStats | string | undefined): Promise<void> {
    const isManifest = isManifestName(entry.name);
    const isLink = entry.isSymbolicLink();
    if (typeof stats === 'object' && stats.isDirectory() && !isManifest) {
      if (isLink) await this.#enterLink(path, stats);
      else await this.enter(path, stats);
    } else if (typeof stats === 'object' && isManifest) {
      this.#found.push({ file: fileOf(path, stats), isLink });
    } else if (stats === 'ENOENT' && !(isLink && (await isStillLink(path)))) {
      this.#outdated = true;
    } else if (isManifest && stats === 'ENOENT') {
      this.#found.push({ file: unusable(path, 'is a broken link: repair or delete it'), isLink });
    } else if (isManifest) {
      this.#found.push({ file: unusable(path, cannotRead(String(stats))), isLink });
    }
  }

  /** Follows links to hidden folders only. Other folders below the root are listed by their own names. */
  async #enterLink(path: string, stats: BigIntStats): Promise<void> {
    const target = await realpath(path).catch(() => this.#root);
    const steps = relative(this.#root, target).split(sep);
    if (steps[0] === '..') {
      const message = 'is a link out of the folder, which is not followed: use the target itself';
      this.#unlisted.push({ path, message });
    } else if (steps.some(isHidden) && !this.#enteredTargets.has(target)) {
      this.#enteredTargets.add(target);
      await this.enter(path, stats);
    }
  }
}

async function parentOf(path: string): Promise<ListedFolder | undefined> {
  const parent = dirname(resolve(path));
  const stats = await statOrCode(parent);
  return typeof stats === 'string' ? undefined : { path: parent, id: idOf(stats) };
}

/** The code of the error if it fails. */
function statOrCode(path: string): Promise<BigIntStats | string> {
  return stat(path, { bigint: true }).catch(readErrorCode);
}

async function isStillLink(path: string): Promise<boolean> {
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

function fileOf(path: string, stats: BigIntStats): ListedFile {
  if (stats.isFile()) return { kind: 'file', path, stats };
  if (stats.isDirectory()) return unusable(path, 'is a folder with the name of a manifest: rename it');
  return unusable(path, 'is not a regular file, but a pipe, socket or device: replace it with a file');
}

function unusable(path: string, message: string): ListedFile {
  return { kind: 'unusable', path, message };
}

/** Leaves out links to files that are listed by their own names, and second links to the same file. */
function withoutRepeats(found: readonly FoundFile[]): ListedFile[] {
  const known = new Set(
    found.flatMap(({ file, isLink }) => (file.kind === 'file' && !isLink ? [idOf(file.stats)] : [])),
  );
  const files: ListedFile[] = [];
  for (const { file, isLink } of found) {
    if (file.kind === 'file' && isLink) {
      const id = idOf(file.stats);
      if (known.has(id)) continue;
      known.add(id);
    }
    files.push(file);
  }
  return files;
}

/** The time of birth is part of it, because a new file often has the inode number of a file that was just deleted. */
function idOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`;
}
