import { asString, attributeMap, type Message, type MessageWriter, readAttributes } from '../netlink/index.ts';
import { decodeEntry, type Entry } from './entry.ts';
import { Attr, encodeHead, NET_BYTEORDER, NFGENMSG_LENGTH } from './message.ts';
import type { SetType } from './set-type.ts';

/** How much of each set to list. */
export type ListDepth = 'names' | 'headers' | 'entries';

const FLAGS = { names: 1 << 1, headers: 1 << 2, entries: 0 } as const;

/** Writes the body of LIST, for one set or for all. */
export function encodeList(writer: MessageWriter, protocol: number, depth: ListDepth, name?: string): void {
  encodeHead(writer, protocol);
  if (name !== undefined) writer.string(Attr.SETNAME, name);
  if (FLAGS[depth]) writer.u32BE(Attr.FLAGS | NET_BYTEORDER, FLAGS[depth]);
}

export function decodeName({ body }: Message): string | undefined {
  return asString(attributeMap(body, NFGENMSG_LENGTH).get(Attr.SETNAME));
}

/** The entries in one message of a list, one at a time. Skips entries that cannot be decoded. */
export function* decodeEntries({ body }: Message, type: SetType): Generator<Entry, void, undefined> {
  const adt = attributeMap(body, NFGENMSG_LENGTH).get(Attr.ADT);
  if (!adt) return;
  for (const { type: kind, value } of readAttributes(adt)) {
    const entry = kind === Attr.DATA ? decodeEntry(type, value) : undefined;
    if (entry) yield entry;
  }
}
