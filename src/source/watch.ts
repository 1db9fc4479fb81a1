import { type FSWatcher, watch } from 'node:fs';
import { errorCode } from './read-text.ts';
import type { ScannedFolder } from './scan.ts';

export interface WatchHandlers {
  /** Something in a watched folder changed; the name is not always known. */
  changed(folder: string, name: string | null): void;
  /** A folder cannot be watched. */
  failed(folder: string, message: string): void;
}

/** Watches a changing set of folders. */
export class FolderWatch {
  readonly #handlers: WatchHandlers;
  readonly #watchers = new Map<string, { readonly id: string; readonly watcher: FSWatcher }>();
  readonly #failed = new Set<string>();

  constructor(handlers: WatchHandlers) {
    this.#handlers = handlers;
  }

  /** Watches exactly these. True if one was not watched until now: it may have changed since it was listed. */
  update(folders: readonly ScannedFolder[]): boolean {
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
    const code = errorCode(error);
    if (code === 'ENOENT') return;
    // ENOSPC here speaks of the number of watches, not of the disk.
    const advice = code === 'ENOSPC' || code === 'EMFILE' ? ': raise fs.inotify.max_user_watches or _instances' : '';
    this.#handlers.failed(path, `cannot be watched (${code})${advice}`);
  }
}
