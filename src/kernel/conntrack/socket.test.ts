import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ip } from '../../net/index.ts';
import { Flag, HEADER_LENGTH, MessageType, MessageWriter, NetlinkSocket, type Transport } from '../netlink/index.ts';
import { CtMessage } from './attributes.ts';
import { encodeFlow, type Flow } from './flow.ts';
import { L4 } from './protocol.ts';
import { ConntrackSocket } from './socket.ts';

const EINVAL = 22;
const ENOENT = 2;
const EPERM = 1;

const udp: Flow = {
  family: 'IPv4',
  protocol: L4.UDP,
  original: { src: '10.0.0.1' as Ip, dst: '10.96.0.1' as Ip, srcPort: 1000, dstPort: 53 },
  reply: { src: '10.1.0.5' as Ip, dst: '10.0.0.1' as Ip, srcPort: 5353, dstPort: 1000 },
};
const tcp: Flow = { ...udp, protocol: L4.TCP };

/** A transport that answers each request with the datagrams that `answer` returns. */
function transport(answer: (request: Buffer, sequence: number) => Buffer[]): Transport & { sent: Buffer[] } {
  const waiting: Buffer[] = [];
  const sent: Buffer[] = [];
  const send = (bytes: Uint8Array) => {
    const all = Buffer.from(bytes);
    for (let at = 0; at < all.length; at += all.readUInt32LE(at)) {
      const request = all.subarray(at, at + all.readUInt32LE(at));
      sent.push(request);
      waiting.push(...answer(request, request.readUInt32LE(8)));
    }
  };
  return {
    sent,
    send,
    sendInBackground: async bytes => send(bytes),
    receive: () => waiting.shift(),
    join: () => {},
    poll: () => ({ close: () => {} }),
    close: () => {},
  };
}

function error(errno: number, sequence: number): Buffer {
  const body = Buffer.alloc(4 + HEADER_LENGTH);
  body.writeInt32LE(-errno);
  return Buffer.from(new MessageWriter().begin(MessageType.ERROR, 0, sequence).struct(body).end().bytes);
}

function listed(sequence: number, ...flows: Flow[]): Buffer {
  const writer = new MessageWriter();
  for (const flow of flows) {
    encodeFlow(writer.begin(CtMessage.NEW, Flag.MULTI, sequence), flow);
    writer.end();
  }
  writer.begin(MessageType.DONE, Flag.MULTI, sequence).struct(Buffer.alloc(4)).end();
  return Buffer.from(writer.bytes);
}

const PLAIN_REQUEST = HEADER_LENGTH + 4;

test('KERNEL-1 this process filters when the kernel refuses the filter', () => {
  const kernel = transport((request, sequence) =>
    request.length > PLAIN_REQUEST ? [error(EINVAL, sequence)] : [listed(sequence, tcp, udp, tcp)],
  );
  const conntrack = new ConntrackSocket(() => new NetlinkSocket(kernel));
  const protocols = [...conntrack.dump({ family: 'IPv4', protocol: L4.UDP })].map(flow => flow.protocol);
  assert.deepEqual(protocols, [L4.UDP]);
  assert.equal(kernel.sent.length, 2);
});

test('KERNEL-1 this process filters when the kernel ignores the filter, as before 5.8', () => {
  const kernel = transport((_, sequence) => [listed(sequence, tcp, udp, tcp)]);
  const conntrack = new ConntrackSocket(() => new NetlinkSocket(kernel));
  const found = [...conntrack.dump({ family: 'IPv4', protocol: L4.UDP })];
  assert.equal(found.length, 1);
  assert.equal(kernel.sent.length, 1);
});

test('KERNEL-1 a dump that the kernel refuses for another reason throws, without a retry', () => {
  const kernel = transport((_, sequence) => [error(EPERM, sequence)]);
  const conntrack = new ConntrackSocket(() => new NetlinkSocket(kernel));
  assert.throws(() => [...conntrack.dump({ family: 'IPv4', protocol: L4.UDP })], {
    code: 'KERNEL_REFUSED',
    errno: 'EPERM',
    operation: 'conntrack -L -f ipv4 -p udp',
  });
  assert.equal(kernel.sent.length, 1);
});

test('KERNEL-1 delete counts flows that were gone, returns refused flows, and asks for one acknowledgement', async () => {
  const answers = [0, ENOENT, EPERM, 0];
  const kernel = transport((request, sequence) => {
    const errno = answers[sequence - 1] ?? 0;
    const asked = (request.readUInt16LE(6) & Flag.ACK) !== 0;
    return errno || asked ? [error(errno, sequence)] : [];
  });
  const conntrack = new ConntrackSocket(() => new NetlinkSocket(kernel));
  const { deleted, gone, refused } = await conntrack.delete([udp, udp, tcp, udp]);
  assert.deepEqual({ deleted, gone }, { deleted: 2, gone: 1 });
  assert.deepEqual(
    refused.map(({ flow, error: { errno } }) => [flow.protocol, errno]),
    [[L4.TCP, 'EPERM']],
  );
  const acked = kernel.sent.map(request => (request.readUInt16LE(6) & Flag.ACK) !== 0);
  assert.deepEqual(acked, [false, false, false, true]);
});

test('KERNEL-1 a send without any acknowledgement is an error, not a success', async () => {
  const conntrack = new ConntrackSocket(() => new NetlinkSocket(transport(() => [])));
  await assert.rejects(conntrack.delete([udp]), { code: 'KERNEL_PROTOCOL' });
  await assert.rejects(conntrack.count(), { code: 'KERNEL_PROTOCOL' });
});

test('KERNEL-1 an answer that contains no flow or no count is an error', async () => {
  const kernel = transport((_, sequence) => [
    Buffer.from(new MessageWriter().begin(CtMessage.NEW, 0, sequence).struct(Buffer.alloc(4)).end().bytes),
    error(0, sequence),
  ]);
  const conntrack = new ConntrackSocket(() => new NetlinkSocket(kernel));
  await assert.rejects(conntrack.get(udp), { code: 'KERNEL_PROTOCOL' });
  await assert.rejects(conntrack.count(), { code: 'KERNEL_PROTOCOL' });
});

test('MACHINE-3 a bounded search ends also if the kernel refuses the filter and sends all flows', async () => {
  const kernel = transport((request, sequence) =>
    request.length > PLAIN_REQUEST ? [error(EINVAL, sequence)] : [listed(sequence, tcp, udp, tcp, udp)],
  );
  const conntrack = new ConntrackSocket(() => new NetlinkSocket(kernel));
  const filter = { family: 'IPv4', protocol: L4.UDP } as const;
  const search = async (limit: number, maxReceived: number) => {
    const { flows, ended } = await conntrack.search(filter, { limit, maxReceived });
    return [flows.length, ended];
  };
  assert.deepEqual(await search(9, 9), [2, undefined]);
  assert.deepEqual(await search(9, 3), [1, 'received']);
  assert.deepEqual(await search(1, 9), [1, 'limit']);
  const forbidden = transport((_, sequence) => [error(EPERM, sequence)]);
  const other = new ConntrackSocket(() => new NetlinkSocket(forbidden));
  await assert.rejects(other.search(filter, { limit: 9, maxReceived: 9 }), { errno: 'EPERM' });
});
