import { chmodSync, existsSync, mkdirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { close } from '../libc.ts';
import { isBpffs, openPin, pin } from './bpffs.ts';

/** Only root may open pins: whoever has a link can put another program in place. */
const FOLDER_MODE = 0o700;

/** A folder of a bpffs. Its files are pins: names of maps and links that outlive the process. */
export class PinFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The folders below another one, by name. */
  static within(path: string): readonly string[] {
    return existsSync(path) ? readdirSync(path) : [];
  }

  get exists(): boolean {
    return existsSync(this.path);
  }

  names(): readonly string[] {
    return PinFolder.within(this.path);
  }

  has(name: string): boolean {
    return existsSync(this.#file(name));
  }

  /** Opens a pinned object. Returns a descriptor, or undefined if nothing has this name. */
  open(name: string): number | undefined {
    return openPin(this.#file(name));
  }

  /** Pins an object. Another object that has the name loses it. Makes the folder if it is missing. */
  pin(name: string, fd: number): void {
    this.#make(this.path);
    this.unpin(name);
    pin(fd, this.#file(name));
  }

  /** Takes a name away. An object without names and descriptors ends. */
  unpin(name: string): void {
    if (this.has(name)) unlinkSync(this.#file(name));
  }

  /** Removes all pins and the folder. */
  remove(): void {
    for (const name of this.names()) this.unpin(name);
    if (this.exists) rmdirSync(this.path);
  }

  #make(path: string): void {
    if (existsSync(path)) return;
    if (!isBpffs(dirname(path))) this.#make(dirname(path));
    mkdirSync(path, { mode: FOLDER_MODE });
    // The process's umask has no say.
    chmodSync(path, FOLDER_MODE);
  }

  #file(name: string): string {
    return `${this.path}/${name}`;
  }
}

/** Closes the descriptor of an object. The object stays if it has a pin or another user. */
export function closeObject(fd: number): void {
  close(fd);
}
