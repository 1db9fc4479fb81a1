import type { NetworkNamespace } from '../../kernel/netns.ts';
import {
  dataSize,
  type Element,
  fieldSizes,
  listElementsUpTo,
  type NftablesSocket,
  type NftFamily,
  printElementOf,
  type SetOrMap,
} from '../../kernel/nftables/index.ts';
import { type Answer, all, compareBytes, isInRange, isKnown, type KnownBytes, sliceBytes } from './known-bytes.ts';

/** Larger sets are not listed. The kernel looks up a single key in them. */
const MAX_ELEMENTS = 2000;
const MAX_PRINTED = 12;

/** An element that has the key, or may have it. */
export interface FoundElement {
  readonly element: Element;
  readonly isSure: boolean;
}

export interface SetAnswer {
  readonly answer: Answer;
  readonly elements: readonly FoundElement[];
  readonly unknown: readonly string[];
}

interface ReadSet {
  readonly set: SetOrMap;
  /** Undefined if the set is too large. */
  readonly elements: readonly Element[] | undefined;
}

/** The sets of one table, each read when a rule first uses it. */
export class TableSets {
  readonly #socket: NftablesSocket;
  readonly #family: NftFamily;
  readonly #table: string;
  readonly #namespace: NetworkNamespace | undefined;
  readonly #read = new Map<string, ReadSet | undefined>();

  constructor(socket: NftablesSocket, family: NftFamily, table: string, namespace: NetworkNamespace | undefined) {
    this.#socket = socket;
    this.#family = family;
    this.#table = table;
    this.#namespace = namespace;
  }

  /** Looks up the key. `load` returns the first bytes of the registers that have it. */
  async find(name: string, load: (length: number) => KnownBytes): Promise<SetAnswer> {
    const found = await this.#readSet(name);
    if (!found) return { answer: 'no', elements: [], unknown: [] };
    const { set, elements } = found;
    const key = load(elements?.find(({ catchAll }) => !catchAll)?.key.length ?? dataSize(set.type));
    if (elements) return findAmong(set, elements, key);
    if (key.bytes.length === 0 || !isKnown(key)) {
      return { answer: 'unknown', elements: [], unknown: [...key.unknown, `elements of ${name}`] };
    }
    const element = this.#socket.lookups.element(this.#family, this.#table, name, key.bytes);
    if (!element) return { answer: 'no', elements: [], unknown: [] };
    return { answer: 'yes', elements: [{ element, isSure: true }], unknown: [] };
  }

  /** The elements of an anonymous set as text: `{ 22, 80 }`. */
  async print(name: string): Promise<string | undefined> {
    const found = await this.#readSet(name);
    if (!found?.elements || !found.set.flags?.includes('anonymous')) return undefined;
    const texts = found.elements.slice(0, MAX_PRINTED).map(element => printElementOf(found.set, element, 'whole'));
    if (found.elements.length > MAX_PRINTED) texts.push('…');
    return `{ ${texts.join(', ')} }`;
  }

  async #readSet(name: string): Promise<ReadSet | undefined> {
    if (this.#read.has(name)) return this.#read.get(name);
    const [family, table] = [this.#family, this.#table];
    const set = this.#socket.lookups.set(family, table, name);
    const elements = set && (await listElementsUpTo(MAX_ELEMENTS, { family, table, set }, this.#namespace));
    const read = set && { set, elements };
    this.#read.set(name, read);
    return read;
  }
}

function findAmong(set: SetOrMap, elements: readonly Element[], key: KnownBytes): SetAnswer {
  const found: FoundElement[] = [];
  for (const element of elements) {
    if (element.catchAll) continue;
    const answer = hasKey(set, element, key);
    if (answer === 'yes') return { answer, elements: [{ element, isSure: true }], unknown: [] };
    if (answer === 'unknown') found.push({ element, isSure: false });
  }
  const other = elements.find(({ catchAll }) => catchAll);
  if (found.length === 0 && other) return { answer: 'yes', elements: [{ element: other, isSure: true }], unknown: [] };
  if (other) found.push({ element: other, isSure: false });
  return { answer: found.length > 0 ? 'unknown' : 'no', elements: found, unknown: key.unknown };
}

function hasKey(set: SetOrMap, { key, keyEnd }: Element, value: KnownBytes): Answer {
  if (!keyEnd) return compareBytes('eq', value, key);
  const sizes = fieldSizes(set.type);
  if (sizes.length < 2 || sizes.includes(0)) return isInRange(value, key, keyEnd);
  const answers: Answer[] = [];
  let at = 0;
  for (const size of sizes) {
    answers.push(isInRange(sliceBytes(value, at, size), key.subarray(at, at + size), keyEnd.subarray(at, at + size)));
    at += (size + 3) & ~3;
  }
  return all(answers);
}
