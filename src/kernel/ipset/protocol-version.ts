import { asU8, attributeMap, type MessageWriter } from '../netlink/index.ts';
import { Attr, encodeHead, NFGENMSG_LENGTH, PROTOCOL_OLDEST, PROTOCOL_VERSION } from './message.ts';

/** The protocol versions that a kernel supports. */
export interface ProtocolRange {
  readonly max: number;
  readonly min: number;
}

/** Writes the request for the protocol versions that the kernel supports. */
export function encodeProtocol(writer: MessageWriter): void {
  encodeHead(writer, PROTOCOL_VERSION);
}

export function decodeProtocol(body: Buffer): ProtocolRange | undefined {
  const attributes = attributeMap(body, NFGENMSG_LENGTH);
  const max = asU8(attributes.get(Attr.PROTOCOL));
  return max === undefined ? undefined : { max, min: asU8(attributes.get(Attr.PROTOCOL_MIN)) ?? max };
}

/** The highest protocol version that both the kernel and this folder support. Undefined if there is none. */
export function commonProtocol({ max, min }: ProtocolRange): number | undefined {
  const version = Math.min(max, PROTOCOL_VERSION);
  return version >= min && version >= PROTOCOL_OLDEST ? version : undefined;
}
