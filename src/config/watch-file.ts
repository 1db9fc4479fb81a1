import { type FSWatcher, readFileSync, realpathSync, statSync, watch } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { configurationText } from './configuration-text.ts';

export interface WatchOptions {
  /** What is in use: only other text is told. A change between reading it and watching is not lost. */
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly clock?: Clock;
  /** A file is read once nothing happened to it for so long, since many writers truncate it first. */
  readonly settleMs?: number;
  /** It is read so often in any case: a file that is mounted by itself changes without an event in its folder. */
  readonly pollMs?: number;
}

/**
 * Watches a configuration file, however it is changed: written in place, replaced by a rename, or, in a mounted
 * ConfigMap, by the swap of a symlink above it. Its folder is watched rather than the file, for which the last two would
 * be its end. While the file is gone, empty or unreadable, nothing is told.
 */
export class ConfigurationFile {
  readonly #path: string;
  readonly #onChange: (text: string) => void;
  readonly #clock: Clock;
  readonly #settleMs: number;
  readonly #pollMs: number;
  readonly #watchers = new Map<string, FSWatcher>();
  #text: string;
  #settle: Timer | undefined;
  #poll: Timer | undefined;

  private constructor(path: string, options: WatchOptions) {
    this.#path = resolve(path);
    this.#text = options.text;
    this.#onChange = options.onChange;
    this.#clock = options.clock ?? systemClock;
    this.#settleMs = options.settleMs ?? 100;
    this.#pollMs = options.pollMs ?? 5_000;
  }

  static watch(path: string, options: WatchOptions): ConfigurationFile {
    const file = new ConfigurationFile(path, options);
    file.#watchFolders();
    file.#noticed();
    file.#startPoll();
    return file;
  }

  close(): void {
    this.#settle?.cancel();
    this.#poll?.cancel();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #startPoll(): void {
    this.#poll = this.#clock.setTimer(this.#pollMs, () => {
      this.#startPoll();
      // Whoever is still writing is waited for.
      if (!this.#settle) this.#check();
    });
  }

  #noticed(): void {
    this.#settle?.cancel();
    this.#settle = this.#clock.setTimer(this.#settleMs, () => {
      this.#settle = undefined;
      this.#check();
    });
  }

  #check(): void {
    this.#watchFolders();
    const text = readText(this.#path);
    if (text === undefined || text.trim() === '' || text === this.#text) return;
    this.#text = text;
    this.#onChange(text);
  }

  /** The folder of the file, and that of the file which it is a symlink to. */
  #watchFolders(): void {
    const wanted = new Map<string, string>();
    for (const folder of [dirname(this.#path), targetFolder(this.#path)]) {
      const id = folder === undefined ? undefined : folderId(folder);
      if (folder !== undefined && id !== undefined) wanted.set(id, folder);
    }
    for (const [id, watcher] of this.#watchers) {
      if (wanted.has(id)) continue;
      watcher.close();
      this.#watchers.delete(id);
    }
    for (const [id, folder] of wanted) if (!this.#watchers.has(id)) this.#watchFolder(id, folder);
  }

  #watchFolder(id: string, folder: string): void {
    try {
      const watcher = watch(folder, () => this.#noticed());
      watcher.on('error', () => {
        watcher.close();
        this.#watchers.delete(id);
      });
      this.#watchers.set(id, watcher);
      // What changed before the watch began is found by a look at the file.
      this.#noticed();
    } catch {
      // The machine may be out of watches. The file is polled all the same, and this is tried again then.
    }
  }
}

/** Undefined if there is no such file, or none that can be read. Nothing but a file is opened: a FIFO would block. */
function readText(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? configurationText(readFileSync(path)) : undefined;
  } catch {
    return undefined;
  }
}

function targetFolder(path: string): string | undefined {
  try {
    return dirname(realpathSync(path));
  } catch {
    return undefined;
  }
}

/** Another folder under the same name is another one. */
function folderId(folder: string): string | undefined {
  try {
    const { dev, ino } = statSync(folder);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
