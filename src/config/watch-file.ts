import { type FSWatcher, readFileSync, realpathSync, statSync, watch } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Clock, systemClock, type Timer } from '../lib/clock.ts';
import { configurationText } from './configuration-text.ts';

export interface WatchOptions {
  /** The text in use. `onChange` gets only other texts, also if the file changed before the watch began. */
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly clock?: Clock;
  /** Reads the file only after this time without a change, because many writers truncate a file first. */
  readonly settleMs?: number;
  /** How often the file is read without an event. A file that is itself a mount changes without an event. */
  readonly pollMs?: number;
}

/**
 * Watches a configuration file. A file can be written in place, be replaced by a rename, or, in a mounted ConfigMap,
 * change with the swap of a symlink in its path. After the last two, a watch on the file itself reports nothing more,
 * so this class watches the folder. It reports nothing while the file is missing, empty or unreadable.
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
    file.#checkSoon();
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
      // If a check is due soon, a writer may still be at work.
      if (!this.#settle) this.#check();
    });
  }

  /** Checks the file after a time without events. */
  #checkSoon(): void {
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

  /** Watches the folder of the file. If the file is a symlink, watches the folder of its target too. */
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
      const watcher = watch(folder, () => this.#checkSoon());
      watcher.on('error', () => {
        watcher.close();
        this.#watchers.delete(id);
      });
      this.#watchers.set(id, watcher);
      // The file may have changed before the watch began.
      this.#checkSoon();
    } catch {
      // The machine may have no watches left. The next poll reads the file and retries this watch.
    }
  }
}

/** Returns undefined if the file cannot be read. Opens only regular files, because opening a FIFO would block. */
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

/** Identifies a folder itself, because a path can lead to another folder later. */
function folderId(folder: string): string | undefined {
  try {
    const { dev, ino } = statSync(folder);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
