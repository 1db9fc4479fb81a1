import { asBytes, attributeMap, type MessageWriter } from '../../netlink/index.ts';

export const NFTA_DATA_VALUE = 1;

/** Writes an attribute that contains plain bytes. */
export function encodeData(writer: MessageWriter, attributeType: number, data: Uint8Array): void {
  const nest = writer.nest(attributeType);
  writer.data(NFTA_DATA_VALUE, data).close(nest);
}

/** The plain bytes in an attribute's value. Undefined if there are none. */
export function decodeData(value: Buffer | undefined): Buffer | undefined {
  return value && asBytes(attributeMap(value).get(NFTA_DATA_VALUE));
}

/** Bytes as `nft --debug=netlink` prints them: 32-bit words in the machine's byte order. */
export function printWords(data: Buffer): string {
  const words: string[] = [];
  for (let at = 0; at < data.length; at += 4) {
    const word = Buffer.alloc(4);
    data.copy(word, 0, at, at + 4);
    words.push(hex32(word.readUInt32LE(0)));
  }
  return words.join(' ');
}

/** `0x00004000`. */
export function hex32(value: number): string {
  return `0x${(value >>> 0).toString(16).padStart(8, '0')}`;
}
