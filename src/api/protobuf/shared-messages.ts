import { append, type GrowingList } from './growing-list.ts';
import type { ProtobufReader } from './reader.ts';

/** Limits memory: a full table is emptied. */
const MAX_MESSAGES = 1 << 12;
const MAX_MESSAGE_BYTES = 256;

/**
 * One value for equal messages, so that a message that thousands of objects repeat, such as a port, is in memory once.
 * Lists with one such message are shared too. Messages are compared by their bytes.
 */
export class SharedMessages<T> {
  readonly #known = new Map<string, readonly [T]>();

  /**
   * Appends the message in the current field to a list. `name` and the index in the list give the path of its problems.
   */
  append(
    list: GrowingList<T>,
    reader: ProtobufReader,
    decode: (reader: ProtobufReader) => T,
    name: string,
  ): GrowingList<T> {
    const single = this.#read(reader, decode, name, list.length);
    return list.length === 0 ? single : append(list, single[0]);
  }

  #read(reader: ProtobufReader, decode: (reader: ProtobufReader) => T, name: string, index: number): readonly [T] {
    const key = reader.peek(MAX_MESSAGE_BYTES);
    const known = key === undefined ? undefined : this.#known.get(key);
    if (known) {
      reader.skip();
      return known;
    }
    const problems = reader.problems.length;
    const list = [reader.message(decode, name, index)] as const;
    const usable = key !== undefined && reader.problems.length === problems && !reader.broken;
    if (usable) this.#remember(key, list);
    return list;
  }

  #remember(key: string, list: readonly [T]): void {
    if (this.#known.size >= MAX_MESSAGES) this.#known.clear();
    this.#known.set(key, list);
  }
}
