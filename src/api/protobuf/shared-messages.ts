import { appended, type GrowingList } from './growing-list.ts';
import type { ProtobufReader } from './reader.ts';

/** More different messages than this are no longer repeats worth keeping; the table then starts afresh. */
const MOST_MESSAGES = 1 << 12;
const LONGEST_MESSAGE = 256;

/**
 * One value for equal messages: what thousands of objects repeat (a port, say) is in memory once. Lists of one are
 * shared too. Messages are compared as bytes.
 */
export class SharedMessages<T> {
  readonly #known = new Map<string, readonly [T]>();

  /** Adds the message in the field to a list that is being built; problems are at `name` and the place in the list. */
  append(
    list: GrowingList<T>,
    reader: ProtobufReader,
    decode: (reader: ProtobufReader) => T,
    name: string,
  ): GrowingList<T> {
    const one = this.#read(reader, decode, name, list.length);
    return list.length === 0 ? one : appended(list, one[0]);
  }

  #read(reader: ProtobufReader, decode: (reader: ProtobufReader) => T, name: string, index: number): readonly [T] {
    const key = reader.peek(LONGEST_MESSAGE);
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
    if (this.#known.size >= MOST_MESSAGES) this.#known.clear();
    this.#known.set(key, list);
  }
}
