import { asString, asU32BE, asU64BE, type Message, type MessageWriter, readAttributes } from '../netlink/index.ts';
import { type DataType, printData } from './datatype.ts';
import { printDuration } from './duration.ts';
import type { Counter } from './expressions/counter.ts';
import { encodeData, NFTA_DATA_VALUE } from './expressions/data.ts';
import { decodeExpression, encodeExpression } from './expressions/expressions.ts';
import { counterText } from './expressions/print/index.ts';
import { decodeVerdict, encodeVerdict, printVerdict, type Verdict } from './expressions/verdict.ts';
import { NFGENMSG_LENGTH } from './message.ts';
import { printRange } from './range.ts';
import { commentBytes, commentIn, encodeComment, encodeUserdata, printComment } from './userdata.ts';

/** An element of a set or map. `dataBytes` makes keys and data, `dataValues` reads them. */
export interface Element {
  readonly kind: 'element';
  /** Empty for the catch-all element. */
  readonly key: Buffer;
  /** Only for a range: its last key. */
  readonly keyEnd?: Buffer;
  /** Only for a map. */
  readonly data?: Buffer;
  /** Only for a verdict map, instead of data. */
  readonly verdict?: Verdict;
  readonly comment?: string;
  /** Only for a set with counters: the packets that matched the element. Without it a new element begins at zero. */
  readonly counter?: Counter;
  /** The lifetime in milliseconds, if it differs from the set's timeout. */
  readonly timeout?: number;
  /** The milliseconds that are left of the lifetime. */
  readonly expires?: number;
  /** Matches every key that no other element matches: `*`. */
  readonly catchAll?: boolean;
  /** Only in notifications, where a range is two elements: this key is the first one after the range. */
  readonly intervalEnd?: boolean;
}

export const ElementListAttribute = { TABLE: 1, SET: 2, ELEMENTS: 3, SET_ID: 4 } as const;
export const ElementAttribute = {
  KEY: 1,
  DATA: 2,
  FLAGS: 3,
  TIMEOUT: 4,
  EXPIRATION: 5,
  USERDATA: 6,
  EXPR: 7,
  OBJREF: 9,
  KEY_END: 10,
  EXPRESSIONS: 11,
} as const;
const ElementUserdata = { COMMENT: 0, FLAGS: 1 } as const;
const INTERVAL_OPEN = 1;
const INTERVAL_END = 1;
const CATCH_ALL = 2;

/** How much of an element to send. To remove an element, its key is enough. */
export type ElementPart = 'whole' | 'key';

/**
 * Writes one entry of a list of elements. It numbers the entries as nft does; the kernel ignores the numbers.
 * `isOpen`: the range has no end element, because there is no key after its last key.
 */
export function encodeElement(
  writer: MessageWriter,
  entry: number,
  element: Element,
  part: ElementPart,
  isOpen = false,
): void {
  const { key, keyEnd, data, verdict, comment, counter, timeout, expires } = element;
  const nest = writer.nest(entry);
  if (element.intervalEnd || element.catchAll) {
    writer.u32BE(ElementAttribute.FLAGS, element.intervalEnd ? INTERVAL_END : CATCH_ALL);
  }
  if (part === 'whole' && timeout !== undefined) writer.u64BE(ElementAttribute.TIMEOUT, BigInt(timeout));
  if (part === 'whole' && expires !== undefined) writer.u64BE(ElementAttribute.EXPIRATION, BigInt(expires));
  if (!element.catchAll) encodeData(writer, ElementAttribute.KEY, key);
  if (keyEnd !== undefined) encodeData(writer, ElementAttribute.KEY_END, keyEnd);
  if (part === 'whole') {
    if (verdict !== undefined) encodeVerdict(writer, ElementAttribute.DATA, verdict);
    else if (data !== undefined) encodeData(writer, ElementAttribute.DATA, data);
    if (isOpen) writer.data(ElementAttribute.USERDATA, openUserdata(comment));
    else if (comment !== undefined) encodeComment(writer, ElementAttribute.USERDATA, comment);
    if (counter) encodeExpression(writer, ElementAttribute.EXPR, counter);
  }
  writer.close(nest);
}

function openUserdata(comment: string | undefined): Buffer {
  const values: [number, Buffer | number][] = [];
  if (comment !== undefined) values.push([ElementUserdata.COMMENT, commentBytes(comment)]);
  values.push([ElementUserdata.FLAGS, INTERVAL_OPEN]);
  return encodeUserdata(values);
}

/** The elements of a message, and the names of their set and table. */
export interface ElementList {
  readonly table: string;
  readonly set: string;
  readonly elements: readonly Element[];
}

export function decodeElements(message: Message): ElementList | undefined {
  let table: string | undefined;
  let set: string | undefined;
  const elements: Element[] = [];
  for (const { type, value } of readAttributes(message.body, NFGENMSG_LENGTH)) {
    if (type === ElementListAttribute.TABLE) table = asString(value);
    else if (type === ElementListAttribute.SET) set = asString(value);
    else if (type === ElementListAttribute.ELEMENTS) {
      for (const entry of readAttributes(value)) {
        const element = decodeElement(entry.value);
        if (element) elements.push(element);
      }
    }
  }
  return table === undefined || set === undefined ? undefined : { table, set, elements };
}

type Mutable<T> = { -readonly [P in keyof T]: T[P] };

/** Returns undefined for an element that has no key and is not the catch-all element. */
export function decodeElement(entry: Buffer): Element | undefined {
  let key: Buffer | undefined;
  const found: Partial<Mutable<Element>> = {};
  for (const { type, value } of readAttributes(entry)) {
    if (type === ElementAttribute.KEY) key = dataIn(value);
    else decodeAttribute(found, type, value);
  }
  if (key === undefined) return found.catchAll ? { kind: 'element', key: Buffer.alloc(0), ...found } : undefined;
  // In a concatenation of ranges the kernel stores a second key even if the range is a single key.
  if (found.keyEnd?.equals(key)) delete found.keyEnd;
  return { kind: 'element', key, ...found };
}

function decodeAttribute(found: Partial<Mutable<Element>>, type: number, value: Buffer): void {
  switch (type) {
    case ElementAttribute.DATA:
      assign(found, 'verdict', decodeVerdict(value));
      assign(found, 'data', dataIn(value));
      return;
    case ElementAttribute.KEY_END:
      assign(found, 'keyEnd', dataIn(value));
      return;
    case ElementAttribute.FLAGS: {
      const flags = asU32BE(value) ?? 0;
      if (flags & INTERVAL_END) found.intervalEnd = true;
      if (flags & CATCH_ALL) found.catchAll = true;
      return;
    }
    case ElementAttribute.TIMEOUT:
      assign(found, 'timeout', asMilliseconds(value));
      return;
    case ElementAttribute.EXPIRATION:
      assign(found, 'expires', asMilliseconds(value));
      return;
    case ElementAttribute.USERDATA:
      assign(found, 'comment', commentIn(value));
      return;
    case ElementAttribute.EXPR: {
      const expression = decodeExpression(value);
      if (expression.kind === 'counter') found.counter = expression;
      return;
    }
  }
}

function assign<K extends keyof Element>(
  found: Partial<Mutable<Element>>,
  name: K,
  value: Element[K] | undefined,
): void {
  if (value !== undefined) found[name] = value;
}

function asMilliseconds(value: Buffer): number | undefined {
  const number = asU64BE(value);
  return number === undefined ? undefined : Number(number);
}

function dataIn(nest: Buffer): Buffer | undefined {
  for (const { type, value } of readAttributes(nest)) if (type === NFTA_DATA_VALUE) return Buffer.from(value);
  return undefined;
}

/** `10.96.0.10 . tcp . 80 comment "default/web" : goto pick-3`, or only the key. */
export function printElement(
  types: readonly DataType[],
  data: readonly DataType[],
  element: Element,
  part: ElementPart,
): string {
  const key = printKey(types, element);
  if (part === 'key') return key;
  const counter = element.counter === undefined ? '' : ` ${counterText(element.counter)}`;
  const timeout = element.timeout === undefined ? '' : ` timeout ${printDuration(element.timeout)}`;
  const expires = element.expires === undefined ? '' : ` expires ${printDuration(element.expires)}`;
  const value = element.verdict ? printVerdict(element.verdict) : element.data && printData(data, element.data);
  const target = value === undefined ? '' : ` : ${value}`;
  return `${key}${counter}${timeout}${expires}${printComment(element.comment)}${target}`;
}

export function printKey(types: readonly DataType[], element: Element): string {
  if (element.catchAll) return '*';
  return element.keyEnd ? printRange(types, element.key, element.keyEnd) : printData(types, element.key);
}
