import { type FSWatcher, watch } from 'node:fs';
import type { ListedFolder } from './list-manifest-files.ts';
import { readErrorCode } from './read-text.ts';

export interface FolderWatchHandlers {
  /** Something in a watched folder changed. The kernel does not always give the name. */
  changed(folder: string, name: string | null): void;
  /** A folder cannot be watched. */
  failed(folder: string, message: string): void;
}

/** Watches a changing set of folders. */
export class FolderWatch {
  readonly #handlers: FolderWatchHandlers;
  readonly #watchers = new Map<string, { readonly id: string; readonly watcher: FSWatcher }>();
  /** Folders whose failure was reported. */
  readonly #failed = new Set<string>();

  constructor(handlers: FolderWatchHandlers) {
    this.#handlers = handlers;
  }

  /** Watches exactly these folders. Returns true if a watch is new: the folder may have changed since it was listed. */
  update(folders: readonly ListedFolder[]): boolean {
    const wanted = new Map(folders.map(folder => [folder.path, folder.id]));
    for (const [path, { id, watcher }] of this.#watchers) {
      if (wanted.get(path) === id) continue;
      watcher.close();
      this.#watchers.delete(path);
    }
    let added = false;
    for (const [path, id] of wanted) {
      if (!this.#watchers.has(path)) added = this.#add(path, id) || added;
    }
    for (const path of this.#failed) if (!wanted.has(path)) this.#failed.delete(path);
    return added;
  }

  close(): void {
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Returns true if the folder is watched now. */
  #add(path: string, id: string): boolean {
    try {
      const watcher = watch(path, (_, name) => this.#handlers.changed(path, name));
      watcher.on('error', error => this.#fail(path, error));
      this.#watchers.set(path, { id, watcher });
      this.#failed.delete(path);
      return true;
    } catch (error) {
      this.#fail(path, error);
      return false;
    }
  }

  #fail(path: string, error: unknown): void {
    this.#watchers.get(path)?.watcher.close();
    this.#watchers.delete(path);
    if (this.#failed.has(path)) return;
    this.#failed.add(path);
    const code = readErrorCode(error);
    if (code === 'ENOENT') return;
    // ENOSPC means here that there are too many watches, not that the disk is full.
    const advice = code === 'ENOSPC' || code === 'EMFILE' ? ': raise fs.inotify.max_user_watches or _instances' : '';
    this.#handlers.failed(path, `cannot be watched (${code})${advice}`);
  }
}
