import { attributeMap, type MessageWriter } from '../netlink/index.ts';
import { type BitmapPort, decodeBitmapPort, encodeBitmapPort, printBitmapPort } from './bitmap-port.ts';
import { decodeExtensions, type Extensions, encodeExtensions, printExtensions } from './extensions.ts';
import { decodeHashIp, encodeHashIp, type HashIp, printHashIp } from './hash-ip.ts';
import { decodeHashIpPort, encodeHashIpPort, type HashIpPort, printHashIpPort } from './hash-ip-port.ts';
import { decodeHashIpPortIp, encodeHashIpPortIp, type HashIpPortIp, printHashIpPortIp } from './hash-ip-port-ip.ts';
import {
  decodeHashIpPortNet,
  encodeHashIpPortNet,
  type HashIpPortNet,
  printHashIpPortNet,
} from './hash-ip-port-net.ts';
import { decodeHashNet, encodeHashNet, type HashNet, printHashNet } from './hash-net.ts';
import { Attr, Data, NET_BYTEORDER } from './message.ts';
import type { SetType } from './set-type.ts';

/** The part of an entry that the kernel looks up in a set. It depends on the set's type. */
export type Element = HashIp | HashIpPort | HashIpPortIp | HashIpPortNet | HashNet | BitmapPort;

export type Entry = Element & Extensions;

/**
 * Writes an entry to add, as DATA. If the kernel refuses the entry, its error contains `line`. Inside ADT the line must
 * not be 0.
 */
export function encodeAdded(writer: MessageWriter, entry: Entry, line: number): void {
  const data = writer.nest(Attr.DATA);
  encodeElement(writer, entry);
  encodeExtensions(writer, entry);
  writer.u32BE(Data.LINENO | NET_BYTEORDER, line).close(data);
}

/** Writes an entry to delete, as DATA, without extensions: the kernel refuses them if the set was created without. */
export function encodeDeleted(writer: MessageWriter, entry: Element, line: number): void {
  const data = writer.nest(Attr.DATA);
  encodeElement(writer, entry);
  writer.u32BE(Data.LINENO | NET_BYTEORDER, line).close(data);
}

/** Writes an entry to test, as DATA. It has no line. */
export function encodeTested(writer: MessageWriter, entry: Element): void {
  const data = writer.nest(Attr.DATA);
  encodeElement(writer, entry);
  writer.close(data);
}

/** Decodes the value of DATA in a set of this type. */
export function decodeEntry(type: SetType, value: Buffer): Entry | undefined {
  const data = attributeMap(value);
  const element = decodeElement(type, data);
  return element && { ...element, ...decodeExtensions(data) };
}

/** The whole entry as `ipset save` prints it: `10.96.0.1,tcp:80 timeout 300`. */
export function printEntry(entry: Entry): string {
  return printElement(entry) + printExtensions(entry);
}

/** Writes the attributes of an element. */
export function encodeElement(writer: MessageWriter, element: Element): void {
  switch (element.kind) {
    case 'hash:ip':
      encodeHashIp(writer, element);
      break;
    case 'hash:ip,port':
      encodeHashIpPort(writer, element);
      break;
    case 'hash:ip,port,ip':
      encodeHashIpPortIp(writer, element);
      break;
    case 'hash:ip,port,net':
      encodeHashIpPortNet(writer, element);
      break;
    case 'hash:net':
      encodeHashNet(writer, element);
      break;
    case 'bitmap:port':
      encodeBitmapPort(writer, element);
      break;
    default:
      element satisfies never;
  }
}

function decodeElement(type: SetType, data: ReadonlyMap<number, Buffer>): Element | undefined {
  switch (type) {
    case 'hash:ip':
      return decodeHashIp(data);
    case 'hash:ip,port':
      return decodeHashIpPort(data);
    case 'hash:ip,port,ip':
      return decodeHashIpPortIp(data);
    case 'hash:ip,port,net':
      return decodeHashIpPortNet(data);
    case 'hash:net':
      return decodeHashNet(data);
    case 'bitmap:port':
      return decodeBitmapPort(data);
  }
}

/**
 * The element as ipset lists it. Two elements of a set are the same exactly if their texts are the same, so wanted and
 * listed elements can be compared by this text.
 */
export function printElement(element: Element): string {
  switch (element.kind) {
    case 'hash:ip':
      return printHashIp(element);
    case 'hash:ip,port':
      return printHashIpPort(element);
    case 'hash:ip,port,ip':
      return printHashIpPortIp(element);
    case 'hash:ip,port,net':
      return printHashIpPortNet(element);
    case 'hash:net':
      return printHashNet(element);
    case 'bitmap:port':
      return printBitmapPort(element);
  }
}
