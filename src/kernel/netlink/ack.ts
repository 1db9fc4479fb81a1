import { errnoName } from '../libc.ts';
import { asString, asU32, attributeMap, type Message } from './reader.ts';
import { HEADER_LENGTH } from './writer.ts';

export const MessageType = { NOOP: 1, ERROR: 2, DONE: 3, OVERRUN: 4 } as const;

const FLAG_CAPPED = 0x100;
const FLAG_ACK_TLVS = 0x200;
const ExtAck = { MSG: 1, OFFS: 2, COOKIE: 3, POLICY: 4, MISS_TYPE: 5, MISS_NEST: 6 } as const;

/** The kernel's answer to one request. */
export interface Ack {
  readonly sequence: number;
  /** Undefined if the kernel accepted the request. */
  readonly errno: string | undefined;
  /** The text of the extended acknowledgement. */
  readonly message: string | undefined;
  /** The offset in the request of the attribute that the kernel refused. */
  readonly offset: number | undefined;
  /** The type of an attribute that the request lacks. */
  readonly missing: number | undefined;
}

/** Decodes NLMSG_ERROR, or the error in NLMSG_DONE. Returns undefined if the message is too short. */
export function decodeAck(message: Message): Ack | undefined {
  const { body, flags, sequence } = message;
  if (body.length < 4) return undefined;
  const number = -body.readInt32LE(0);
  const ack = {
    sequence,
    errno: number === 0 ? undefined : errnoName(number),
    message: undefined,
    offset: undefined,
    missing: undefined,
  };
  if (!(flags & FLAG_ACK_TLVS)) return ack;
  const tlvs = attributeMap(body, extendedOffset(message));
  return {
    ...ack,
    message: asString(tlvs.get(ExtAck.MSG)),
    offset: asU32(tlvs.get(ExtAck.OFFS)),
    missing: asU32(tlvs.get(ExtAck.MISS_TYPE)),
  };
}

/** Where the attributes begin. An error first repeats the header of the request, or all of it if it is not capped. */
function extendedOffset({ type, flags, body }: Message): number {
  if (type === MessageType.DONE) return 4;
  if (flags & FLAG_CAPPED || body.length < 8) return 4 + HEADER_LENGTH;
  return 4 + Math.max(HEADER_LENGTH, body.readUInt32LE(4));
}
