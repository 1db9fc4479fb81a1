import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Flag, HEADER_LENGTH, MessageType, MessageWriter, type Transport } from '../netlink/index.ts';
import { decodeEntries, decodeName } from './list.ts';
import { Attr, IpsetMessage } from './message.ts';
import { commonProtocol, decodeProtocol } from './protocol-version.ts';
import { commonRevision, decodeType, SET_TYPES } from './set-type.ts';
import { IpsetSocket } from './socket.ts';

/** A transport that answers each request with the datagrams that `answer` returns. */
function transport(answer: (type: number, sequence: number) => Buffer[]): Transport {
  const waiting: Buffer[] = [];
  const send = (bytes: Uint8Array) => {
    const all = Buffer.from(bytes);
    for (let at = 0; at < all.length; at += all.readUInt32LE(at)) {
      waiting.push(...answer(all.readUInt16LE(at + 4), all.readUInt32LE(at + 8)));
    }
  };
  return {
    send,
    sendInBackground: async bytes => send(bytes),
    receive: () => waiting.shift(),
    join: () => {},
    poll: () => ({ close: () => {} }),
    close: () => {},
  };
}

function ack(sequence: number): Buffer {
  const body = Buffer.alloc(4 + HEADER_LENGTH);
  return Buffer.from(new MessageWriter().begin(MessageType.ERROR, 0, sequence).struct(body).end().bytes);
}

function answer(type: number, sequence: number, write: (writer: MessageWriter) => void): Buffer {
  const writer = new MessageWriter().begin(type, 0, sequence).struct(Buffer.alloc(4));
  write(writer);
  return Buffer.from(writer.end().bytes);
}

const supportedProtocols = (max: number, min: number) => (writer: MessageWriter) =>
  void writer.u8(Attr.PROTOCOL, max).u8(Attr.PROTOCOL_MIN, min);

test('KERNEL-1 uses the highest protocol version that both sides support', () => {
  assert.equal(commonProtocol({ max: 7, min: 6 }), 7);
  assert.equal(commonProtocol({ max: 6, min: 6 }), 6);
  assert.equal(commonProtocol({ max: 9, min: 7 }), 7);
  assert.equal(commonProtocol({ max: 9, min: 8 }), undefined);
  assert.equal(commonProtocol({ max: 5, min: 5 }), undefined);
});

test('KERNEL-1 uses the highest revision of a type that both sides know', () => {
  assert.equal(commonRevision('hash:ip', { max: 4, min: 0 }), 4);
  assert.equal(commonRevision('hash:ip', { max: 9, min: 0 }), 6);
  assert.equal(commonRevision('hash:ip', { max: 9, min: 7 }), undefined);
});

test('KERNEL-1 opening a socket throws if there is no common protocol version', () => {
  const kernel = transport((type, sequence) => [answer(type, sequence, supportedProtocols(9, 8)), ack(sequence)]);
  assert.throws(() => new IpsetSocket(() => kernel), {
    code: 'KERNEL_PROTOCOL',
    reason: 'the kernel supports only the protocol versions 8 to 9',
  });
  const silent = transport((_, sequence) => [ack(sequence)]);
  assert.throws(() => new IpsetSocket(() => silent), {
    code: 'KERNEL_PROTOCOL',
    reason: 'the answer contains no protocol version',
  });
});

test('KERNEL-1 throws if the kernel does not acknowledge, or if there is no common revision', async () => {
  const kernel = transport((type, sequence) => {
    if (type === IpsetMessage.PROTOCOL) return [answer(type, sequence, supportedProtocols(7, 6)), ack(sequence)];
    if (type !== IpsetMessage.TYPE) return [];
    const revisions = (writer: MessageWriter) => void writer.u8(Attr.REVISION, 20).u8(Attr.REVISION_MIN, 19);
    return [answer(type, sequence, revisions), ack(sequence)];
  });
  const ipset = new IpsetSocket(() => kernel);
  await assert.rejects(ipset.flush('A'), { code: 'KERNEL_PROTOCOL', operation: 'flush A' });
  await assert.rejects(ipset.create({ name: 'A', type: 'hash:ip', family: 'IPv4' }), {
    code: 'KERNEL_PROTOCOL',
    reason: 'the kernel supports only the revisions 19 to 20',
  });
  ipset.close();
});

test('KERNEL-1 each send asks for one acknowledgement', async () => {
  const asked: boolean[] = [];
  const kernel = transport((type, sequence) => {
    if (type === IpsetMessage.PROTOCOL) return [answer(type, sequence, supportedProtocols(7, 6)), ack(sequence)];
    return [ack(sequence)];
  });
  const recording: Transport = {
    ...kernel,
    send(bytes) {
      const all = Buffer.from(bytes);
      for (let at = 0; at < all.length; at += all.readUInt32LE(at)) {
        asked.push((all.readUInt16LE(at + 6) & Flag.ACK) !== 0);
      }
      kernel.send(bytes);
    },
  };
  const ipset = new IpsetSocket(() => recording);
  await ipset.restore([{ kind: 'flush', name: 'A' }, { kind: 'flush', name: 'B' }, { kind: 'destroy' }]);
  assert.deepEqual(asked, [true, false, false, true]);
  ipset.close();
});

test('KERNEL-2 random bytes never make a decoder throw', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 120 }), random => {
      const body = Buffer.from(random);
      const message = { type: IpsetMessage.LIST, flags: 0, sequence: 1, body };
      decodeProtocol(body);
      decodeType(body);
      decodeName(message);
      for (const type of SET_TYPES) for (const _ of decodeEntries(message, type));
    }),
    { numRuns: 500 },
  );
});
