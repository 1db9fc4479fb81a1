import type { Socket } from 'node:net';

// For tests: HTTP/2 frames written by hand, because Node's server cannot misbehave.

export const DATA = 0;
export const HEADERS = 1;
export const RST_STREAM = 3;
export const GOAWAY = 7;
const SETTINGS = 4;
const ACK = 1;
const PREFACE_LENGTH = 24;
const HEAD_LENGTH = 9;

export function frame(type: number, flags: number, stream: number, payload: Uint8Array | string = ''): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.alloc(HEAD_LENGTH);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** A number as four bytes in network order. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Plays the server on a connection. Calls `onRequest` with the number of every stream that the client opens. */
export function serverFrames(socket: Socket, onRequest: (stream: number) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  let skip = PREFACE_LENGTH;
  socket.on('error', () => {});
  socket.write(frame(SETTINGS, 0, 0));
  socket.on('data', chunk => {
    rest = Buffer.concat([rest, chunk]);
    const preface = Math.min(skip, rest.length);
    skip -= preface;
    rest = rest.subarray(preface);
    while (rest.length >= HEAD_LENGTH && rest.length >= HEAD_LENGTH + rest.readUIntBE(0, 3)) {
      const [type, flags, stream] = [rest[3], rest[4], rest.readUInt32BE(5)];
      rest = rest.subarray(HEAD_LENGTH + rest.readUIntBE(0, 3));
      if (type === SETTINGS && flags !== ACK) socket.write(frame(SETTINGS, ACK, 0));
      if (type === HEADERS) onRequest(stream);
    }
  });
}
