import type { Transport } from '../netlink/index.ts';
import { asU32BE, attributeMap, HEADER_LENGTH, type Message, MessageType, readMessages } from '../netlink/index.ts';
import { Attr, NFGENMSG_LENGTH } from './message.ts';

const ERROR_LENGTH = 4;

/**
 * The line of the refused entry. The kernel's error repeats the request, with LINENO overwritten by the line of that
 * entry. It does so even if the socket asks for errors without the request. Returns undefined if the error concerns the
 * whole message.
 */
export function decodeErrorLine({ type, body }: Message): number | undefined {
  if (type !== MessageType.ERROR) return undefined;
  const request = body.subarray(ERROR_LENGTH);
  if (request.length < HEADER_LENGTH) return undefined;
  const length = request.readUInt32LE(0);
  if (length > request.length) return undefined;
  const attributes = attributeMap(request.subarray(0, length), HEADER_LENGTH + NFGENMSG_LENGTH);
  return asU32BE(attributes.get(Attr.LINENO)) || undefined;
}

/** A transport that records the line of each error that it receives, by the sequence number of the request. */
export function recordErrorLines(transport: Transport, lines: Map<number, number>): Transport {
  return {
    send: bytes => transport.send(bytes),
    sendInBackground: bytes => transport.sendInBackground(bytes),
    receive() {
      const datagram = transport.receive();
      for (const message of datagram ? readMessages(datagram) : []) {
        const line = decodeErrorLine(message);
        if (line !== undefined) lines.set(message.sequence, line);
      }
      return datagram;
    },
    join: group => transport.join(group),
    poll: onReadable => transport.poll(onReadable),
    close: () => transport.close(),
  };
}
