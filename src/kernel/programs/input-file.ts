import { closeSync, readSync, writeSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import koffi from 'koffi';
import { check } from '../libc.ts';

const memfdCreate = koffi.load('libc.so.6').func('int memfd_create(const char *name, unsigned int flags)');
const MFD_CLOEXEC = 1;
const BLOCK = 64 << 10;

/** The standard input of a program. An iterable is read once, synchronously. */
export type ProgramInput = string | Uint8Array | Iterable<string | Uint8Array>;

/**
 * A program's standard input as a file without a name, in memory. It has these advantages over a pipe:
 * - 24 MiB take a third of the time.
 * - The event loop has no work while the program reads.
 * - We can read it again to find the line that the program refused.
 * - A program can open it as /dev/stdin. Node makes a socket instead of a pipe, and a socket cannot be opened.
 */
export class InputFile {
  readonly fd: number;
  #size = 0;

  private constructor(fd: number) {
    this.fd = fd;
  }

  static create(input: ProgramInput): InputFile {
    const file = new InputFile(check(memfdCreate('input', MFD_CLOEXEC), 'create a file in memory'));
    try {
      file.#fill(typeof input === 'string' || input instanceof Uint8Array ? [input] : input);
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  get size(): number {
    return this.#size;
  }

  *lines(): Generator<string> {
    const decoder = new StringDecoder('utf8');
    let rest = '';
    for (const block of this.#blocks()) {
      const lines = (rest + decoder.write(block)).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    rest += decoder.end();
    if (rest !== '') yield rest;
  }

  text(): string {
    const decoder = new StringDecoder('utf8');
    let text = '';
    for (const block of this.#blocks()) text += decoder.write(block);
    return text + decoder.end();
  }

  close(): void {
    closeSync(this.fd);
  }

  /** Collects small chunks in a block, because a write for each of them would cost more than making the text. */
  #fill(chunks: Iterable<string | Uint8Array>): void {
    const encoder = new TextEncoder();
    const block = new Uint8Array(BLOCK);
    let used = 0;
    const flush = () => {
      this.#append(block.subarray(0, used));
      used = 0;
    };
    for (const chunk of chunks) {
      if (typeof chunk !== 'string') {
        flush();
        this.#append(chunk);
        continue;
      }
      for (let at = 0; at < chunk.length; ) {
        const { read, written } = encoder.encodeInto(at === 0 ? chunk : chunk.slice(at), block.subarray(used));
        at += read;
        used += written;
        if (at < chunk.length) flush();
      }
    }
    flush();
  }

  /** Writes at a position. The program shares the file's offset, so the offset must stay at the start. */
  #append(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const written = writeSync(this.fd, bytes, at, bytes.length - at, this.#size);
      at += written;
      this.#size += written;
    }
  }

  *#blocks(): Generator<Uint8Array> {
    const block = new Uint8Array(BLOCK);
    for (let at = 0; at < this.#size; ) {
      const read = readSync(this.fd, block, 0, BLOCK, at);
      if (read === 0) return;
      yield block.subarray(0, read);
      at += read;
    }
  }
}
